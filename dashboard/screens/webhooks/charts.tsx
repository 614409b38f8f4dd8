import { Link } from '@tanstack/react-router';
import type { DeliveryAnalytics, DeliveryBucket } from '../../../src/client/api.ts';
import { clock } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Chart } from '../../parts/chart.tsx';
import { Problem } from '../../parts/feedback.tsx';
import { optionsOf, Select } from '../../parts/field.tsx';
import { intervalName, short, whole } from '../../parts/format.ts';
import { Card, Facts } from '../../parts/page.tsx';
import { common } from '../../texts/common.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { failureRate, milliseconds } from './figures.tsx';
import type { LogSearch } from './filters.tsx';

const texts = webhooks.charts;
const SPANS = ['24h', '7d', '30d'] as const;
type Span = (typeof SPANS)[number];

/** Whose deliveries are counted: those of an endpoint, or of all endpoints of an owner. */
type Whose =
  | { readonly endpoint: string; readonly owner?: undefined }
  | { readonly endpoint?: undefined; readonly owner: string };

const HOUR_MS = 3_600_000;
const HOURS_OF_WEEK = 168;

/** The query; without `from` it covers 24 hours or 30 days. Rounded to the hour, so that the query stays the same. */
function queryOf(span: Span, { endpoint, owner }: Whose) {
  const hour = Math.floor(serverNow() / HOUR_MS) * HOUR_MS;
  return {
    webhook_endpoint_id: endpoint,
    owner,
    interval: span === '30d' ? 'day' : 'hour',
    from: span === '7d' ? new Date(hour - (HOURS_OF_WEEK - 1) * HOUR_MS).toISOString() : undefined,
  } as const;
}

/** Deliveries of an endpoint, or of an owner, over time: counts by outcome, duration of attempts, responses. */
export function Charts({ of, span, onSpan }: { of: Whose; span: Span; onSpan: (span: Span) => void }) {
  const query = queryOf(span, of);
  const options = { isLive: true, keepsPrevious: true };
  const { data, error, refetch } = useRead('getDeliveryAnalytics', { query }, options);
  return (
    <>
      <div className="filters">
        <Select label={texts.span} value={span} options={optionsOf(SPANS, texts.spans)} onChange={onSpan} />
      </div>
      {error ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : (
        <Drawn of={of} data={data} empty={texts.empty} />
      )}
    </>
  );
}

interface DrawnProps {
  readonly of: Whose;
  readonly data: DeliveryAnalytics | undefined;
  readonly empty: string;
}

function Drawn({ of: whose, data, empty }: DrawnProps) {
  const zone = clock.use() === 'utc' ? 'UTC' : undefined;
  const buckets = data?.buckets ?? [];
  const isDay = data?.interval === 'day';
  const points =
    data &&
    buckets.map(({ starts_at }) => intervalName(starts_at, data.interval, isDay ? data.time_zone : zone));
  const of = (value: (bucket: DeliveryBucket) => number | null) => buckets.map(value);
  const rows = (status: 'failed' | 'delivered' | 'cancelled') => (index: number, figure: string) => (
    <LogLink of={whose} search={{ status, ...spanAt(buckets, index, data?.to) }}>
      {figure}
    </LogLink>
  );
  const { delivered, failed, cancelled, waiting } = texts.series;
  return (
    <>
      {data && <Totals totals={data.totals} />}
      <Card title={texts.volume}>
        <Chart
          label={texts.volume}
          points={points}
          series={[
            {
              name: delivered,
              values: of((each) => each.delivered),
              kind: 'stack',
              tone: 'good',
              link: rows('delivered'),
            },
            {
              name: failed,
              values: of((each) => each.failed),
              kind: 'stack',
              tone: 'bad',
              link: rows('failed'),
            },
            {
              name: cancelled,
              values: of((each) => each.cancelled),
              kind: 'stack',
              tone: 'warn',
              link: rows('cancelled'),
            },
            {
              name: waiting,
              values: of((each) => each.published - each.delivered - each.failed - each.cancelled),
              kind: 'stack',
              tone: 'soft',
            },
          ]}
          figure={whole}
          scale={short}
          empty={empty}
        />
      </Card>
      <Card title={texts.latency}>
        <Chart
          label={texts.latency}
          points={points}
          series={[
            { name: 'p50', values: of((each) => each.p50_ms), kind: 'line', tone: 'good' },
            { name: 'p95', values: of((each) => each.p95_ms), kind: 'line', tone: 'accent' },
            { name: 'p99', values: of((each) => each.p99_ms), kind: 'line', tone: 'warn' },
          ]}
          figure={milliseconds}
          scale={(value) => `${short(value)} ms`}
          empty={texts.noAttempts}
        />
      </Card>
      <Card title={texts.answers}>
        <Chart
          label={texts.answers}
          points={points}
          series={[
            { name: '2xx', values: of(({ answers }) => answers['2xx']), kind: 'stack', tone: 'good' },
            {
              name: texts.series.refused,
              values: of(({ answers }) => answers['3xx'] + answers['4xx']),
              kind: 'stack',
              tone: 'warn',
            },
            { name: '5xx', values: of(({ answers }) => answers['5xx']), kind: 'stack', tone: 'bad' },
            {
              name: texts.series.none,
              values: of(({ answers }) => answers.none),
              kind: 'stack',
              tone: 'soft',
            },
          ]}
          figure={whole}
          scale={short}
          empty={texts.noAttempts}
        />
      </Card>
    </>
  );
}

/** A link to the log with filters. */
function LogLink({ of, search, children }: { of: Whose; search: LogSearch; children: string }) {
  return of.endpoint === undefined ? (
    <Link to="/webhooks/log" search={{ ...search, owner: of.owner }}>
      {children}
    </Link>
  ) : (
    <Link to="/webhooks/$id" params={{ id: of.endpoint }} search={search}>
      {children}
    </Link>
  );
}

/** From the start of an interval to just before the next one. */
function spanAt(buckets: readonly DeliveryBucket[], index: number, end = '') {
  const until = buckets[index + 1]?.starts_at ?? end;
  return {
    from: buckets[index]?.starts_at,
    until: until === '' ? undefined : new Date(Date.parse(until) - 1).toISOString(),
  };
}

function Totals({ totals }: { totals: DeliveryAnalytics['totals'] }) {
  const { published, delivered, failed, cancelled, attempts, p50_ms, p95_ms, p99_ms } = totals;
  const latency = [p50_ms, p95_ms, p99_ms].map((each) =>
    each === null ? common.nothing : milliseconds(each),
  );
  return (
    <Card>
      <Facts
        rows={[
          [texts.published, whole(published)],
          [texts.series.delivered, whole(delivered)],
          [texts.series.failed, whole(failed)],
          [texts.series.cancelled, whole(cancelled)],
          [texts.attempts, whole(attempts)],
          [webhooks.failureRate, failureRate(totals)],
          ['p50 · p95 · p99', latency.join(' · ')],
        ]}
      />
    </Card>
  );
}
