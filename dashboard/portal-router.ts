import { createMemoryHistory, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { portalRoot } from './app/portal.tsx';
import { ScreenProblem } from './app/problem.tsx';
import { parseSearch, stringifySearch } from './app/search.ts';
import type { openPortal } from './data/portal.ts';
import { endpointSearch, listSearch } from './screens/webhooks/search.ts';

const list = createRoute({
  getParentRoute: () => portalRoot,
  path: '/webhooks',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./screens/webhooks/list.tsx'), 'EndpointList'),
});

const one = createRoute({
  getParentRoute: () => portalRoot,
  path: '/webhooks/$id',
  validateSearch: endpointSearch,
  component: lazyRouteComponent(() => import('./screens/webhooks/endpoint.tsx'), 'EndpointScreen'),
});

type Opened = Exclude<Awaited<ReturnType<typeof openPortal>>, string>;

/**
 * The screens of a portal, at the same paths as in the dashboard. The history is kept in memory: the frame stays at one
 * address, and the page around it keeps its own history.
 */
export const portalRouter = ({ portal }: Opened) =>
  createRouter({
    routeTree: portalRoot.addChildren([list, one]),
    history: createMemoryHistory({
      initialEntries: [
        portal === null || portal.owner !== null ? '/webhooks' : `/webhooks/${portal.webhook_endpoint_id}`,
      ],
    }),
    parseSearch,
    stringifySearch,
    defaultErrorComponent: ScreenProblem,
  });
