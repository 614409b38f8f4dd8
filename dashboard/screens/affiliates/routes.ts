import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';
import { TIMELINE_KINDS } from '../../data/timeline-kinds.ts';

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: '/affiliates',
  validateSearch: searchOf({
    page: number,
    sort: text,
    search: text,
    status: oneOf(['active', 'inactive']),
    payout_method: oneOf([...DESTINATION_TYPES, 'none']),
    is_ready_for_payout: oneOf(['true', 'false']),
    has_destination: oneOf(['true', 'false']),
    program_id: number,
    balance_currency: text,
  }),
  component: lazyRouteComponent(() => import('./list.tsx'), 'AffiliateList'),
});

/** An affiliate, with the dialog that is open. */
const one = createRoute({
  getParentRoute: () => rootRoute,
  path: '/affiliates/$id',
  validateSearch: searchOf({
    open: oneOf(['edit', 'adjust', 'switch', 'destination', 'tax']),
    kind: oneOf(TIMELINE_KINDS),
  }),
  component: lazyRouteComponent(() => import('./affiliate.tsx'), 'AffiliateScreen'),
});

export const affiliateRoutes = [list, one] as const;
