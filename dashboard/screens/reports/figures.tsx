import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ReportSummary } from '../../../src/client/api.ts';
import { countryName } from '../../../src/terms/countries.ts';
import { figures } from '../../parts/format.ts';
import type { Column } from '../../parts/table.tsx';
import { Name } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { reports as texts } from '../../texts/reports.ts';
import type { Grouping, PeriodSearch } from './views.tsx';

/** A row of the report, or a total of a currency. */
export type Line = ReportSummary['rows'][number] & { readonly isTotal?: true };

const FIGURES = [
  'opening',
  'earned',
  'adjusted',
  'refunded',
  'voided',
  'paid',
  'returned',
  'closing',
] as const;
type Figure = (typeof FIGURES)[number];
/** Columns that are left out where all amounts are zero. */
const RARE: readonly Figure[] = ['adjusted', 'refunded', 'voided', 'returned'];

/** A report with what its links need. */
export interface Shown {
  readonly by: Grouping;
  /** As in the address. */
  readonly period: PeriodSearch;
  /** The days of the report. */
  readonly days: { readonly from?: string | undefined; readonly to?: string | undefined };
}

/** The columns: the group, the amounts without a currency, and the currency. */
export function columnsFor(lines: readonly Line[], shown: Shown): Column<Line>[] {
  const rows = lines.filter(({ isTotal }) => !isTotal);
  const known = FIGURES.filter((figure) => rows.some((row) => row[`${figure}_amount`] !== null));
  const used = known.filter(
    (figure) => !RARE.includes(figure) || lines.some((line) => line[`${figure}_amount`] !== 0),
  );
  const currency: Column<Line> = {
    title: texts.currency,
    cell: ({ currency }) =>
      shown.by === 'currency' ? (
        currency.toUpperCase()
      ) : (
        <span className="currency">{currency.toUpperCase()}</span>
      ),
  };
  const group: Column<Line> = {
    title: texts.groups[shown.by],
    cell: (line) => (line.isTotal ? <strong>{texts.total}</strong> : <Group line={line} by={shown.by} />),
  };
  return [
    ...(shown.by === 'currency' ? [] : [group]),
    currency,
    ...used.map(
      (figure): Column<Line> => ({
        title: texts.figures[figure],
        isFigure: true,
        cell: (line) => <Figure line={line} figure={figure} shown={shown} />,
      }),
    ),
  ];
}

function Group({ line: { key, name }, by }: { line: Line; by: Grouping }) {
  if (key === null) return <span className="soft">{texts.unknown[by]}</span>;
  if (by === 'affiliate') {
    return (
      <Link to="/affiliates/$id" params={{ id: key }}>
        <Name>{name ?? key}</Name>
      </Link>
    );
  }
  if (by === 'country') return countryName(key) ?? key;
  if (by === 'method') return affiliates.method[key as keyof typeof affiliates.method] ?? key;
  return <Name>{name ?? key}</Name>;
}

/** An amount, which leads to the rows behind it. */
function Figure({ line, figure, shown }: { line: Line; figure: Figure; shown: Shown }) {
  const amount = line[`${figure}_amount`];
  if (amount === null) return null;
  const text = figures({ amount, currency: line.currency });
  const isStrong = line.isTotal || figure === 'closing';
  const inside = <span className={isStrong ? 'money strong' : 'money'}>{text}</span>;
  return amount === 0 ? inside : rowsBehind(inside, line, figure, shown);
}

/** The link to the rows behind an amount: of the group, of the whole currency for a total. */
function rowsBehind(inside: ReactNode, line: Line, figure: Figure, { by, period, days }: Shown): ReactNode {
  const { key, currency } = line;
  const group = line.isTotal ? 'currency' : by;
  if (group === 'country') {
    return (
      <Link to="/reports" search={{ ...period, by: 'affiliate', country: key ?? 'none', currency }}>
        {inside}
      </Link>
    );
  }
  const rows = {
    ...days,
    currency,
    affiliate_id: group === 'affiliate' ? Number(key) : undefined,
    program_id: group === 'program' && key !== null ? Number(key) : undefined,
    has_program: group === 'program' && key === null ? ('false' as const) : undefined,
  };
  const commissions = (date: 'occurred_at' | 'paid_at' | 'voided_at', type?: 'adjustment') => (
    <Link to="/commissions" search={{ ...rows, date, type }}>
      {inside}
    </Link>
  );
  switch (figure) {
    case 'earned':
      return commissions('occurred_at');
    case 'adjusted':
      return commissions('occurred_at', 'adjustment');
    case 'refunded':
      return (
        <Link to="/commissions/refunds" search={rows}>
          {inside}
        </Link>
      );
    case 'voided':
      return commissions('voided_at');
    case 'paid':
      if (group === 'affiliate') return commissions('paid_at');
      return (
        <Link to="/payouts" search={{ status: 'paid', ...days, currency }}>
          {inside}
        </Link>
      );
    default:
      return group === 'affiliate' ? (
        <Link to="/affiliates/$id" params={{ id: key ?? '' }}>
          {inside}
        </Link>
      ) : (
        <Link to="/reports" search={{ ...period, by: 'affiliate', currency }}>
          {inside}
        </Link>
      );
  }
}
