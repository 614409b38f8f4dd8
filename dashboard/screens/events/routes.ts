import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, searchOf, text } from '../../app/search.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events',
  validateSearch: searchOf({ page: number, type: text, own: text, from: text, until: text }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'EventList'),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events/$id',
  component: lazyRouteComponent(() => import('./event.tsx'), 'EventScreen'),
});

export const eventRoutes = [list, one] as const;
