import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { rootRoute } from '../../app/root.tsx';
import { number, oneOf, searchOf, text } from '../../app/search.ts';

/** The report of a period; `country` and `currency` are filters by affiliate. */
const report = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports',
  validateSearch: searchOf({
    by: oneOf(['currency', 'method', 'program', 'country', 'affiliate']),
    period: text,
    from: text,
    to: text,
    country: text,
    currency: text,
    page: number,
  }),
  component: lazyRouteComponent(() => import('./report.tsx'), 'ReportScreen'),
});

/** The entries behind an amount of the report. */
const entries = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports/entries',
  validateSearch: searchOf({
    page: number,
    sort: text,
    kind: oneOf(['earned', 'adjusted', 'refunded', 'voided', 'paid', 'returned']),
    from: text,
    to: text,
    currency: text,
    affiliate_id: number,
    country: text,
    program_id: number,
    has_program: oneOf(['false']),
    payout_method: oneOf([...DESTINATION_TYPES, 'none']),
  }),
  component: lazyRouteComponent(() => import('./entries.tsx'), 'EntriesScreen'),
});

const usTax = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports/us-tax',
  validateSearch: searchOf({ page: number, sort: text, year: number, view: oneOf(['w8', 'file', 'all']) }),
  component: lazyRouteComponent(() => import('./us-tax.tsx'), 'UsTaxReportScreen'),
});

const taxForms = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports/tax-forms',
  validateSearch: searchOf({ page: number, sort: text, view: oneOf(['lapsed', 'none', 'ending', 'ended']) }),
  component: lazyRouteComponent(() => import('./tax-forms.tsx'), 'TaxFormsScreen'),
});

export const reportRoutes = [report, entries, usTax, taxForms] as const;
