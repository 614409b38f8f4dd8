import { createRootRoute } from '@tanstack/react-router';
import { NotFound, Shell } from './shell.tsx';

/** What is around every screen. The routes of the screens hang below it. */
export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
