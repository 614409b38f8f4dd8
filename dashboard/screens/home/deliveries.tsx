import { Link } from '@tanstack/react-router';
import { clock } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Chart } from '../../parts/chart.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { intervalName, short, whole } from '../../parts/format.ts';
import { Card } from '../../parts/page.tsx';
import { home } from '../../texts/home.ts';

const texts = home.deliveries;

/** Successful and failed deliveries of the last 24 hours, by the hour of the event. */
export function Deliveries() {
  const zone = clock.use() === 'utc' ? 'UTC' : undefined;
  const { data, error, refetch } = useRead(
    'getDeliveryAnalytics',
    { query: { interval: 'hour' } },
    { isLive: true },
  );
  const totals = data?.totals;
  const hours = data?.buckets ?? [];
  return (
    <Card title={texts.title}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {totals && totals.published > 0 && (
        <p className="form-lead">
          <Link to="/webhooks/log" search={{ from: data.from }}>
            {texts.published(totals.published)}
          </Link>
          ,{' '}
          <Link to="/webhooks/log" search={{ status: 'delivered', from: data.from }}>
            {texts.delivered(totals.delivered)}
          </Link>
          ,{' '}
          <Link to="/webhooks/log" search={{ status: 'failed', from: data.from }}>
            {texts.failed(totals.failed)}
          </Link>
        </p>
      )}
      {!error && (
        <Chart
          label={texts.label}
          points={data && hours.map(({ starts_at }) => intervalName(starts_at, 'hour', zone))}
          series={[
            {
              name: texts.names.delivered,
              values: hours.map(({ delivered }) => delivered),
              kind: 'stack',
              tone: 'good',
            },
            {
              name: texts.names.failed,
              values: hours.map(({ failed }) => failed),
              kind: 'stack',
              tone: 'bad',
            },
            {
              name: texts.names.open,
              values: hours.map(
                ({ published, delivered, failed, cancelled }) => published - delivered - failed - cancelled,
              ),
              kind: 'stack',
              tone: 'soft',
            },
          ]}
          figure={whole}
          scale={short}
          empty={texts.empty}
        />
      )}
    </Card>
  );
}
