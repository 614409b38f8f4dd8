import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

const start = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports',
  beforeLoad: () => {
    throw redirect({ to: '/reports/us-tax' });
  },
});

const usTax = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports/us-tax',
  validateSearch: searchOf({ page: number, sort: text, year: number, view: oneOf(['w8', 'file', 'all']) }),
  component: lazyRouteComponent(() => import('./us-tax.tsx'), 'UsTaxReportScreen'),
});

export const reportRoutes = [start, usTax] as const;
