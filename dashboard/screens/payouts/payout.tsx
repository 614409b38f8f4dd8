import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '../../data/queries.ts';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { Moneys, Time } from '../../parts/values.tsx';
import { payouts as texts } from '../../texts/payouts.ts';
import { PayoutStatus } from './list.tsx';

const route = getRouteApi('/payouts/$id');

/** /payouts/{id} */
export function PayoutScreen() {
  const { id } = route.useParams();
  const { data: payout, error, refetch } = useRead('getPayout', { path: [id] }, { isLive: true });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (payout === undefined) return <Skeleton lines={6} />;
  return (
    <Page title={texts.name(payout.number)} status={<PayoutStatus status={payout.status} />}>
      <Card>
        <Facts
          rows={[
            [texts.columns.amount, <Moneys key="amount" amounts={payout.totals} />],
            [texts.columns.affiliates, whole(payout.affiliate_count)],
            [texts.columns.commissions, whole(payout.commission_count)],
            [texts.columns.created, <Time key="created" at={payout.created_at} isFocusable />],
          ]}
        />
      </Card>
    </Page>
  );
}
