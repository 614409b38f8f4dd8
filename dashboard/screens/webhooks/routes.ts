import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { endpointSearch, listSearch, logSearch } from './search.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./list.tsx'), 'EndpointList'),
});

const log = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/log',
  validateSearch: logSearch,
  component: lazyRouteComponent(() => import('./all.tsx'), 'WholeLog'),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/$id',
  validateSearch: endpointSearch,
  component: lazyRouteComponent(() => import('./endpoint.tsx'), 'EndpointScreen'),
});

export const webhookRoutes = [list, log, one] as const;
