import { getRouteApi, Link } from '@tanstack/react-router';
import type {
  DestinationType,
  PayoutLine,
  PayoutLineDestination,
  PayoutPreviewExclusion,
  PayoutSelection,
} from '../../../src/client/api.ts';
import { nameOf } from '../../data/payouts.ts';
import { serverNow } from '../../data/server-time.ts';
import { Empty } from '../../parts/feedback.tsx';
import { money, relative, whole } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { type ListPosition, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import type { Column } from '../../parts/table.tsx';
import { Money, Name, Status } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';
import { LineAmounts } from './with-tax.tsx';
import './payouts.css';

const route = getRouteApi('/payouts/new');
const texts = payouts.create;

/** The name, with the e-mail address below it. */
export function Who({ line }: { line: Pick<PayoutLine, 'name' | 'email' | 'affiliate_id'> }) {
  return (
    <>
      <Name>{nameOf(line)}</Name>
      {line.name !== null && line.email !== null && <span className="second">{line.email}</span>}
    </>
  );
}

type Paid = Pick<PayoutLine, 'paypal_email' | 'email' | 'name' | 'is_paid' | 'totals'>;

/** How and where an affiliate is paid, by currency if these differ. */
export function Destination({ line }: { line: Paid }) {
  const currencies = new Map<string, { target: PaymentTarget; of: string[] }>();
  for (const { currency, destination, paid_through } of line.totals) {
    const target = targetOf(line, destination, paid_through);
    const key = `${target.method} ${target.to}`;
    currencies.set(key, { target, of: [...(currencies.get(key)?.of ?? []), currency.toUpperCase()] });
  }
  return [...currencies].map(([key, { target, of }]) => (
    <div key={key}>
      {target.method !== null && payouts.methods[target.method]}
      {currencies.size > 1 && <span className="soft"> ({of.join(', ')})</span>}
      {target.to !== null && <span className="second">{target.to}</span>}
      {target.isMissing && line.is_paid === null && (
        <span className="second">
          <Status tone="warn" label={payouts.noDestination} />
        </span>
      )}
    </div>
  ));
}

interface PaymentTarget {
  /** null = unknown. */
  readonly method: DestinationType | null;
  /** null = no account or address is stored. */
  readonly to: string | null;
  /** Whether it lacks something that a payment file needs. */
  readonly isMissing: boolean;
}

function targetOf(
  line: Paid,
  destination: PayoutLineDestination | null,
  method: DestinationType | null,
): PaymentTarget {
  if (method === null) return { method, to: null, isMissing: true };
  if (method === 'paypal') return { method, to: line.paypal_email, isMissing: line.paypal_email === null };
  if (method === 'wise') return { method, to: line.email, isMissing: line.name === null };
  const end = destination?.last_four ?? null;
  return { method, to: end === null ? null : payouts.account(end), isMissing: false };
}

const PAID: readonly Column<PayoutLine>[] = [
  { title: payouts.columns.affiliate, cell: (line) => <Who line={line} /> },
  { title: payouts.columns.destination, isBelow: true, cell: (line) => <Destination line={line} /> },
  {
    title: payouts.columns.commissions,
    isFigure: true,
    isWide: true,
    cell: ({ commission_count }) => whole(commission_count),
  },
  {
    title: payouts.columns.amount,
    isFigure: true,
    cell: (line) => (
      <>
        <LineAmounts totals={line.totals} /> <LeaveOut line={line} />
      </>
    ),
  },
];

/** Leaves one affiliate out, as a filter in the URL. */
function LeaveOut({ line }: { line: PayoutLine }) {
  const label = texts.leaveOut(nameOf(line));
  return (
    <Link
      className="icon-button"
      from="/payouts/new"
      to="."
      search={(now) => ({ ...now, without: [...(now.without ?? []), line.affiliate_id] })}
      replace
      resetScroll={false}
      aria-label={label}
      title={label}
    >
      <Icon name="cross" />
    </Link>
  );
}

/** The page in the URL. */
function usePlace() {
  const { page } = route.useSearch();
  const navigate = route.useNavigate();
  return {
    place: { page },
    onPlace: (next: ListPosition) => void navigate({ search: (now) => ({ ...now, page: next.page }) }),
  };
}

/** Who would be paid, a page at a time. */
export function WouldBePaid({ body }: { body: PayoutSelection }) {
  const list = useList('previewPayoutAffiliates', { body, ...usePlace(), isLive: false });
  return (
    <Listing
      {...list}
      label={texts.pays}
      columns={PAID}
      keyOf={({ affiliate_id }) => String(affiliate_id)}
      empty={
        <Empty icon="payouts" title={texts.nobody}>
          {texts.nobodyHint}
        </Empty>
      }
    />
  );
}

/** What would have to change for an affiliate to be included. */
function wayIn({ reason, minimum_payout, amount, currency, available_at }: PayoutPreviewExclusion): string {
  const { wayIn: ways } = texts;
  if (reason === 'below_minimum') {
    return minimum_payout === null
      ? ''
      : ways.below_minimum(money({ amount: minimum_payout - amount, currency }));
  }
  if (reason === 'on_hold')
    return available_at === null ? ways.held : ways.on_hold(relative(available_at, serverNow()));
  return ways[reason];
}

const OUT: readonly Column<PayoutPreviewExclusion>[] = [
  { title: payouts.columns.affiliate, cell: (row) => <Who line={row} /> },
  {
    title: payouts.columns.reason,
    cell: (row) => (
      <>
        {texts.reasons[row.reason]}
        <span className="second">{wayIn(row)}</span>
      </>
    ),
  },
  {
    title: payouts.columns.commissions,
    isFigure: true,
    isWide: true,
    cell: ({ commission_count }) => whole(commission_count),
  },
  {
    title: payouts.columns.amount,
    isFigure: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
];

/** Who would be left out, why, and what would have to change. */
export function LeftOut({ body }: { body: PayoutSelection }) {
  const list = useList('previewPayoutExclusions', { body, ...usePlace(), isLive: false });
  return (
    <Listing
      {...list}
      label={texts.leavesOut}
      columns={OUT}
      keyOf={({ affiliate_id, currency, reason }) => `${affiliate_id} ${currency} ${reason}`}
      empty={<Empty icon="check" title={texts.everybody} />}
    />
  );
}
