import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events',
  validateSearch: searchOf({
    page: number,
    type: text,
    own: text,
    owner: text,
    tag: text,
    from: text,
    until: text,
    open: oneOf(['publish']),
  }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'EventList'),
});

const types = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events/types',
  validateSearch: searchOf({ find: text, type: text }),
  component: lazyRouteComponent(() => import('./types.tsx'), 'EventTypes'),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events/$id',
  component: lazyRouteComponent(() => import('./event.tsx'), 'EventScreen'),
});

export const eventRoutes = [list, types, one] as const;
