import { createRootRoute } from '@tanstack/react-router';
import { NotFound, Shell } from './shell.tsx';

/** The layout around every screen. The routes of the screens are its children. */
export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
