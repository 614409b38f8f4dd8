import { getRouteApi, Link } from '@tanstack/react-router';
import type { CommissionBucket } from '../../../src/client/api.ts';
import { formatDecimal } from '../../../src/kernel/money.ts';
import { useMe } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Chart } from '../../parts/chart.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { Select } from '../../parts/field.tsx';
import { intervalName, money, short } from '../../parts/format.ts';
import { Card } from '../../parts/page.tsx';
import { home } from '../../texts/home.ts';

const route = getRouteApi('/');
const texts = home.months;

/** What was earned, refunded and paid in the last twelve months, one currency at a time. */
export function Months() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const own = useMe().data?.account.default_currency ?? '';
  const { data, error, refetch } = useRead(
    'getCommissionAnalytics',
    { query: { interval: 'month' } },
    { isLive: true },
  );
  const currencies = (data?.series ?? []).map((each) => each.currency);
  const currency = [search.currency, own].find((each) => each && currencies.includes(each)) ?? currencies[0];
  const buckets = data?.series.find((each) => each.currency === currency)?.buckets ?? [];
  return (
    <Card
      title={texts.title}
      actions={
        <>
          {currency && currencies.length > 1 && (
            <Select
              label={texts.currency}
              value={currency}
              options={currencies.map((value) => ({ value, label: value.toUpperCase() }))}
              onChange={(chosen) => void navigate({ search: { currency: chosen }, replace: true })}
            />
          )}
          <Link to="/reports">{texts.report}</Link>
        </>
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!error && (
        <Chart
          label={texts.label(currency ?? '')}
          points={data && buckets.map((bucket) => intervalName(bucket.starts_at, 'month', data.time_zone))}
          series={seriesOf(buckets, currency)}
          figure={(amount) => money({ amount, currency: currency ?? '' })}
          scale={(amount) => short(Number(formatDecimal(BigInt(amount), currency ?? '')))}
          empty={texts.empty}
        />
      )}
    </Card>
  );
}

function seriesOf(buckets: readonly CommissionBucket[], currency: string | undefined) {
  const rows = (kind: 'earned' | 'refunded' | 'paid') => (index: number, figure: string) => (
    <Link to="/reports/entries" search={{ currency, kind, ...monthOf(buckets[index]?.day ?? '') }}>
      {figure}
    </Link>
  );
  return [
    {
      name: texts.earned,
      values: buckets.map((bucket) => bucket.earned_amount),
      kind: 'bar',
      tone: 'accent',
      link: rows('earned'),
    },
    {
      name: texts.refunded,
      values: buckets.map((bucket) => bucket.refunded_amount),
      kind: 'bar',
      tone: 'warn',
      link: rows('refunded'),
    },
    {
      name: texts.paid,
      values: buckets.map((bucket) => bucket.paid_amount),
      kind: 'bar',
      tone: 'good',
      link: rows('paid'),
    },
  ] as const;
}

/** The first and last day of the month that starts on `first`. */
function monthOf(first: string): { from: string; to: string } {
  const [year = 0, month = 0] = first.split('-').map(Number);
  return { from: first, to: new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10) };
}
