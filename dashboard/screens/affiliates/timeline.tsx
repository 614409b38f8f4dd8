import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { type TimelineEntry, useTimeline } from '../../data/timeline.ts';
import { TIMELINE_KINDS } from '../../data/timeline-kinds.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { CommissionStatus, titleOf } from '../../parts/commissions.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { Select } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { sumsOf } from '../../parts/sums.ts';
import { Money, Moneys, Name, Status, Time } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { commissions } from '../../texts/commissions.ts';
import { payouts } from '../../texts/payouts.ts';

const route = getRouteApi('/affiliates/$id');
const texts = affiliates.timeline;
/** Characters of an instant that are its day. */
const DAY = 10;

/** Everything that happened to an affiliate in one list, newest first. */
export function Timeline({ id }: { id: number }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useTimeline(
    id,
    search.kind,
    may.own,
  );
  const entries = data?.pages.flatMap(({ shown }) => shown);
  const kinds = TIMELINE_KINDS.filter((kind) => may.own || kind !== 'change');
  return (
    <Card
      title={texts.title}
      actions={
        <Select
          label={texts.show}
          value={search.kind ?? ''}
          options={[
            { value: '', label: texts.everything },
            ...kinds.map((value) => ({ value, label: texts.kinds[value] })),
          ]}
          onChange={(kind) =>
            void navigate({ search: { ...search, kind: kind || undefined }, replace: true })
          }
        />
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {entries === undefined && !error && <Skeleton lines={6} />}
      {entries?.length === 0 && !hasNextPage && <p className="soft">{texts.nothing}</p>}
      {entries && entries.length > 0 && (
        <ol className="timeline">
          {entries.map((entry) => (
            <li key={`${entry.kind} ${entry.key}`}>
              <EntrySummary entry={entry} affiliate={id} />
              <span className="soft small">
                <Time at={entry.at} isFocusable />
              </span>
            </li>
          ))}
        </ol>
      )}
      <div className="buttons">
        {hasNextPage && (
          <Button isBusy={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            {texts.older}
          </Button>
        )}
        <Link to="/commissions" search={{ affiliate_id: id }}>
          {texts.allCommissions}
        </Link>
      </div>
    </Card>
  );
}

/** What happened, with a link to it. */
function EntrySummary({ entry, affiliate }: { entry: TimelineEntry; affiliate: number }): ReactNode {
  if (entry.kind === 'payout') {
    const { id, number, status } = entry.payout;
    return (
      <span className="signs">
        <Link to="/payouts/$id" params={{ id }} search={{ line: affiliate }}>
          {payouts.name(number)}
        </Link>
        <Status tone={status === 'paid' ? 'good' : 'info'} label={payouts.status[status]} />
        <LineAmount payout={id} affiliate={affiliate} />
      </span>
    );
  }
  if (entry.kind === 'change') {
    const { action, actor } = entry.change;
    return (
      <span className="signs">
        <Link to="/settings/audit" search={{ target: String(affiliate) }}>
          {action === 'createAffiliate' ? texts.made : texts.changed}
        </Link>
        <span className="soft">
          {texts.by} <Actor id={actor.id} />
        </span>
      </span>
    );
  }
  if (entry.kind === 'refund') {
    const { refunds, reason, status } = entry.refund;
    const own = refunds.filter(({ commission }) => commission.affiliate_id === affiliate);
    const sums = sumsOf(
      own.map(({ amount, commission: { currency } }) => ({ totals: [{ amount: -amount, currency }] })),
    );
    return (
      <span className="signs">
        <Link to="/commissions" search={{ affiliate_id: affiliate, open: own[0]?.commission.id }}>
          {status === 'reversed' ? texts.reversed : texts.refund}
        </Link>
        <Moneys amounts={sums} />
        {reason && <span className="soft">{commissions.history.because(reason)}</span>}
      </span>
    );
  }
  const { commission, kind } = entry;
  const { id, amount, currency, description, occurred_at: earned, created_at: recorded } = commission;
  return (
    <span className="signs">
      <Link to="/commissions" search={{ affiliate_id: affiliate, open: id }}>
        {kind === 'commission' ? <Name>{titleOf(commission)}</Name> : texts[kind]}
      </Link>
      <CommissionStatus commission={commission} />
      <Money amount={amount} currency={currency} />
      {kind === 'commission' && earned.slice(0, DAY) !== recorded.slice(0, DAY) && (
        <span className="soft">
          {texts.earned} <Time at={earned} />
        </span>
      )}
      {description && <span className="soft">{description}</span>}
    </span>
  );
}

/** The amount of one affiliate in a payout. */
function LineAmount({ payout, affiliate }: { payout: string; affiliate: number }) {
  const { data } = useRead('listPayoutAffiliates', { path: [payout], query: { affiliate_id: affiliate } });
  if (data === undefined) return <span className="bone" />;
  return <Moneys amounts={data.data[0]?.totals ?? []} />;
}
