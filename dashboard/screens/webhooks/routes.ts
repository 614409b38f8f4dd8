import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

/** A valid HTTP status code; undefined for anything else. */
export const answerCode = (raw: unknown): number | undefined =>
  /^[1-5]\d\d$/.test(String(raw)) ? Number(raw) : undefined;

/** The filters of the log. `event` and `at` identify the delivery in the drawer. */
const LOG = {
  page: number,
  status: oneOf(['pending', 'delivered', 'failed', 'held']),
  type: text,
  answer: oneOf(['2xx', '3xx', '4xx', '5xx', 'none']),
  code: answerCode,
  error: text,
  id: text,
  own: text,
  from: text,
  until: text,
  event: text,
  at: text,
} as const;

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  validateSearch: searchOf({ page: number, status: oneOf(['enabled', 'disabled']) }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'EndpointList'),
});

const log = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/log',
  validateSearch: searchOf({ ...LOG, endpoint: text }),
  component: lazyRouteComponent(() => import('./all.tsx'), 'WholeLog'),
});

const one = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/$id',
  validateSearch: searchOf({
    ...LOG,
    view: oneOf(['log', 'charts', 'recoveries', 'settings']),
    span: oneOf(['24h', '7d', '30d']),
  }),
  component: lazyRouteComponent(() => import('./endpoint.tsx'), 'EndpointScreen'),
});

export const webhookRoutes = [list, log, one] as const;
