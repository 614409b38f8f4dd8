import { Link, useRouterState } from '@tanstack/react-router';
import { Tabs } from '../../parts/page.tsx';
import { reports as texts } from '../../texts/reports.ts';

export const GROUPINGS = ['currency', 'method', 'program', 'country', 'affiliate'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What a report is of: `period`, or the days from one to another. */
export interface PeriodSearch {
  readonly period?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Tabs: the groupings of the report, and the lists for US tax forms. They keep the period. */
export function Views({ by, period }: { by: Grouping | null; period?: PeriodSearch }) {
  // on the other screen no period is known
  const isHere = useRouterState({ select: ({ location }) => location.pathname === '/reports' });
  return (
    <Tabs label={texts.views}>
      {GROUPINGS.map((each) => (
        <Link
          key={each}
          to="/reports"
          search={{ ...(isHere ? period : {}), by: each === 'currency' ? undefined : each }}
          className={each === by ? 'active' : undefined}
          aria-current={each === by ? 'page' : undefined}
          activeProps={{}}
        >
          {texts.by[each]}
        </Link>
      ))}
      <Link to="/reports/us-tax" activeOptions={{ includeSearch: false }}>
        {texts.usTax}
      </Link>
      <Link to="/reports/tax-forms" activeOptions={{ includeSearch: false }}>
        {texts.taxForms}
      </Link>
    </Tabs>
  );
}
