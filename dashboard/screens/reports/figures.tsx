import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ReportSummary } from '../../../src/client/api.ts';
import { countryName } from '../../../src/terms/countries.ts';
import type { DestinationType } from '../../../src/terms/payments.ts';
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
    cell: (line) => (line.isTotal ? <strong>{texts.total}</strong> : <Group line={line} shown={shown} />),
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

function Group({ line: { key, name, currency }, shown }: { line: Line; shown: Shown }) {
  const { by, period } = shown;
  if (by === 'country') {
    return (
      <Link to="/reports" search={{ ...period, by: 'affiliate', country: key ?? 'none', currency }}>
        {key === null ? texts.unknown.country : (countryName(key) ?? key)}
      </Link>
    );
  }
  if (key === null) return <span className="soft">{texts.unknown[by]}</span>;
  if (by === 'affiliate') {
    return (
      <Link to="/affiliates/$id" params={{ id: key }}>
        <Name>{name ?? key}</Name>
      </Link>
    );
  }
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

/**
 * The link to what an amount is the sum of: its entries, of the group, or of the whole currency for a total. What is owed to
 * several affiliates is the sum of what is owed to each.
 */
function rowsBehind(inside: ReactNode, line: Line, figure: Figure, { by, period, days }: Shown): ReactNode {
  const { key, currency } = line;
  const group = line.isTotal ? 'currency' : by;
  const country = group === 'country' ? (key ?? 'none') : undefined;
  const isOwed = figure === 'opening' || figure === 'closing';
  if (isOwed && group !== 'affiliate') {
    return (
      <Link to="/reports" search={{ ...period, by: 'affiliate', country, currency }}>
        {inside}
      </Link>
    );
  }
  const of = isOwed
    ? { to: figure === 'opening' ? dayBefore(days.from) : days.to }
    : { kind: figure, ...days };
  return (
    <Link
      to="/reports/entries"
      search={{
        ...of,
        currency,
        country,
        affiliate_id: group === 'affiliate' ? Number(key) : undefined,
        program_id: group === 'program' && key !== null ? Number(key) : undefined,
        has_program: group === 'program' && key === null ? 'false' : undefined,
        payout_method: group === 'method' ? ((key ?? 'none') as DestinationType | 'none') : undefined,
      }}
    >
      {inside}
    </Link>
  );
}

function dayBefore(day: string | undefined): string | undefined {
  if (day === undefined) return undefined;
  const date = new Date(day);
  date.setUTCDate(date.getUTCDate() - 1);
  return date.toISOString().slice(0, 10);
}
