import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

/** The list; `open` is the commission in the drawer, `act` the action that is being confirmed. */
const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/commissions',
  validateSearch: searchOf({
    page: number,
    sort: text,
    status: oneOf(['pending', 'unpaid', 'paid', 'voided']),
    type: oneOf(['sale', 'recurring', 'bonus', 'adjustment', 'clawback']),
    currency: text,
    affiliate_id: number,
    program_id: number,
    has_program: oneOf(['false']),
    payout_id: text,
    by: oneOf(['order_id', 'order_line_id', 'external_id']),
    search: text,
    date: oneOf(['occurred_at', 'created_at', 'paid_at', 'voided_at']),
    from: text,
    to: text,
    open: text,
    act: oneOf(['refund', 'void', 'hold', 'unhold']),
  }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'CommissionList'),
});

const refunds = createRoute({
  getParentRoute: () => rootRoute,
  path: '/commissions/refunds',
  validateSearch: searchOf({
    page: number,
    sort: text,
    status: oneOf(['waiting', 'applied', 'reversed']),
    currency: text,
    affiliate_id: number,
    program_id: number,
    has_program: oneOf(['false']),
    from: text,
    to: text,
  }),
  component: lazyRouteComponent(() => import('./refunds.tsx'), 'RefundList'),
});

export const commissionRoutes = [list, refunds] as const;
