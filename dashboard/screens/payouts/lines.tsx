import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { nameOf } from '../../data/payouts.ts';
import { pageSize } from '../../data/preferences.ts';
import { Empty } from '../../parts/feedback.tsx';
import { FilterSelect, SearchField } from '../../parts/field.tsx';
import { whole } from '../../parts/format.ts';
import { Pager } from '../../parts/listing.tsx';
import { type Column, rowLink, type Selection, Table } from '../../parts/table.tsx';
import { LineId, Moneys, Name, Status } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { Destination } from './preview.tsx';
import { LineAmounts } from './with-tax.tsx';

const route = getRouteApi('/payouts/$id');
const texts = payouts.review;

const COMPARE: Readonly<Record<string, (one: PayoutLine, other: PayoutLine) => number>> = {
  name: (one, other) => nameOf(one).localeCompare(nameOf(other)),
  method: (one, other) =>
    (one.totals[0]?.paid_through ?? '').localeCompare(other.totals[0]?.paid_through ?? ''),
  commissions: (one, other) => one.commission_count - other.commission_count,
  amount: (one, other) => {
    const [a, b] = [one.totals[0], other.totals[0]];
    return (a?.currency ?? '').localeCompare(b?.currency ?? '') || (a?.amount ?? 0) - (b?.amount ?? 0);
  },
};

/** The lines that match the search parameters, sorted. All lines are in memory, so no request is needed. */
function chosenLines<Line extends PayoutLine>(
  lines: readonly Line[],
  {
    search = '',
    currency,
    sort = '',
  }: Pick<ReturnType<typeof route.useSearch>, 'search' | 'currency' | 'sort'>,
) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const ofWords = (line: Line) => {
    const text =
      `${line.name ?? ''} ${line.email ?? ''} ${line.paypal_email ?? ''} ${line.affiliate_id}`.toLowerCase();
    return words.every((word: string) => text.includes(word));
  };
  const matching = words.length === 0 ? lines : lines.filter(ofWords);
  const found =
    currency === undefined
      ? matching
      : matching
          .map((line) => ({ ...line, totals: line.totals.filter((total) => total.currency === currency) }))
          .filter(({ totals }) => totals.length > 0);
  const compare = COMPARE[sort.replace('-', '')];
  if (compare === undefined) return found;
  return [...found].sort((one, other) => (sort.startsWith('-') ? -compare(one, other) : compare(one, other)));
}

interface LinesProps<Line extends PayoutLine> {
  readonly payout: Payout;
  readonly lines: readonly Line[] | undefined;
  readonly keyOf?: (line: Line) => string;
  readonly columns?: readonly Column<Line>[];
  /** The sums of the matching lines. */
  readonly selectionOf?: (found: readonly Line[]) => Selection<Line>;
  readonly actions?: ReactNode;
  /** Rendered between the filters and the lines. */
  readonly below?: ReactNode;
}

/** The lines of a payout with search, sorting and pages; a line opens in a drawer. */
export function Lines<Line extends PayoutLine>(props: LinesProps<Line>) {
  const { payout, lines, keyOf = affiliateOf, columns, selectionOf, actions, below } = props;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const perPage = Number(pageSize.use());
  const { search: typed, currency, sort } = search;
  const found = useMemo(
    () => chosenLines(lines ?? [], { search: typed, currency, sort }),
    [lines, typed, currency, sort],
  );
  const pages = Math.max(1, Math.ceil(found.length / perPage));
  const page = Math.min(search.page ?? 1, pages);
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next }, replace: true });
  return (
    <>
      <div className="filters">
        <SearchField
          label={texts.search}
          value={search.search ?? ''}
          onChange={(value) => change({ search: value || undefined })}
        />
        {payout.totals.length > 1 && (
          <FilterSelect
            label={payouts.columns.amount}
            any={texts.anyCurrency}
            value={search.currency}
            options={payout.totals.map(({ currency }) => ({
              value: currency,
              label: currency.toUpperCase(),
            }))}
            onChange={(value) => change({ currency: value })}
          />
        )}
        {actions}
      </div>
      {below}
      {lines && found.length === 0 ? (
        <Empty icon="search" title={texts.noneFound} />
      ) : (
        <div className="listing">
          <Table
            label={payouts.paid.lines}
            columns={columns ?? (payout.status === 'paid' ? PAID_COLUMNS : COLUMNS)}
            rows={lines && found.slice((page - 1) * perPage, page * perPage)}
            keyOf={keyOf}
            sort={search.sort}
            onSort={(sort) => change({ sort })}
            selection={selectionOf?.(found)}
          />
          <Pager
            label={payouts.paid.lines}
            pagination={{ page, limit: perPage, total: found.length }}
            onPage={(to) => void navigate({ search: { ...search, page: to } })}
          />
        </div>
      )}
    </>
  );
}

const affiliateOf = ({ affiliate_id }: PayoutLine) => String(affiliate_id);

export const COLUMNS: readonly Column<PayoutLine>[] = [
  {
    title: payouts.columns.affiliate,
    sort: 'name',
    cell: (line) => (
      <>
        <Link
          {...rowLink}
          from="/payouts/$id"
          to="."
          search={(now) => ({ ...now, line: line.affiliate_id })}
          resetScroll={false}
        >
          <Name>{nameOf(line)}</Name>
        </Link>
        {line.name !== null && line.email !== null && <span className="second">{line.email}</span>}
      </>
    ),
  },
  {
    title: payouts.columns.destination,
    sort: 'method',
    isBelow: true,
    cell: (line) => <Destination line={line} />,
  },
  {
    title: payouts.columns.commissions,
    sort: 'commissions',
    isFigure: true,
    isWide: true,
    cell: ({ commission_count }) => whole(commission_count),
  },
  {
    title: payouts.columns.amount,
    sort: 'amount',
    isFigure: true,
    cell: ({ totals }) => <LineAmounts totals={totals} />,
  },
];

const PAID_COLUMNS: readonly Column<PayoutLine>[] = [
  ...COLUMNS,
  { title: payouts.columns.status, isBelow: true, cell: (line) => <LineStatus line={line} /> },
  {
    title: payouts.columns.reference,
    isWide: true,
    cell: ({ payment_reference: reference }) => reference !== null && <LineId>{reference}</LineId>,
  },
];

/** The outcome of a line of a paid payout. */
export function LineStatus({ line: { totals } }: { line: PayoutLine }) {
  const returned = totals.filter(({ returned_amount }) => returned_amount > 0);
  if (!totals.some(({ is_paid }) => is_paid))
    return <Status tone="neutral" label={payouts.paid.lineReleased} />;
  return (
    <>
      <Status tone="good" label={payouts.paid.linePaid} />
      {returned.length > 0 && (
        <span className="second">
          {payouts.columns.returned}{' '}
          <Moneys
            amounts={returned.map(({ currency, returned_amount, with_tax }) => ({
              currency,
              amount: with_tax?.returned_amount ?? returned_amount,
            }))}
          />
        </span>
      )}
    </>
  );
}
