import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { rootRoute } from '../../app/root.tsx';
import { number, numbers, oneOf, searchOf, text } from '../../app/search.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/payouts',
  validateSearch: searchOf({
    page: number,
    sort: text,
    status: oneOf(['unpaid', 'paid']),
    currency: text,
    from: text,
    to: text,
  }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'PayoutList'),
});

/** `without` are the affiliates who are left out by choice. */
const create = createRoute({
  getParentRoute: () => rootRoute,
  path: '/payouts/new',
  validateSearch: searchOf({
    search: text,
    method: oneOf(DESTINATION_TYPES),
    currency: text,
    until: text,
    program: number,
    minimum: oneOf(['ignored']),
    without: numbers,
    view: oneOf(['out']),
    page: number,
  }),
  component: lazyRouteComponent(() => import('./create.tsx'), 'NewPayout'),
});

/** `open` is the schedule in the drawer, or `new`. */
const schedules = createRoute({
  getParentRoute: () => rootRoute,
  path: '/payouts/schedules',
  validateSearch: searchOf({ page: number, sort: text, open: text }),
  component: lazyRouteComponent(() => import('./schedules.tsx'), 'ScheduleList'),
});

/** A payout at one of its steps; `line` is the affiliate in the drawer. */
const one = createRoute({
  getParentRoute: () => rootRoute,
  path: '/payouts/$id',
  validateSearch: searchOf({
    step: oneOf(['review', 'files', 'send', 'complete']),
    page: number,
    sort: text,
    line: number,
    search: text,
    currency: text,
  }),
  component: lazyRouteComponent(() => import('./payout.tsx'), 'PayoutScreen'),
});

export const payoutRoutes = [list, create, schedules, one] as const;
