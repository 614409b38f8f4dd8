import type { DeliveryAnalytics } from '../../../src/client/api.ts';
import { useRead } from '../../data/queries.ts';
import { whole } from '../../parts/format.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { common } from '../../texts/common.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';

/** A duration as text: `1,204 ms`. */
export const milliseconds = (ms: number) => `${whole(ms)}\u00a0ms`;

/** The share of attempts without a 2xx response: `3.2 %`. */
export function failureRate({
  attempts,
  answers,
}: Pick<DeliveryAnalytics['totals'], 'attempts' | 'answers'>) {
  if (attempts === 0) return common.nothing;
  const percent = (100 * (attempts - answers['2xx'])) / attempts;
  // rounding must not turn a small share into none, nor a large one into all
  const shown = percent > 0 && percent < 0.1 ? '< 0.1' : String(Math.floor(percent * 10) / 10);
  return `${shown} %`;
}

// all cells of a row share one query
const useDay = (endpoint: string) =>
  useRead('getDeliveryAnalytics', { query: { webhook_endpoint_id: endpoint } }, { isLive: true }).data;

/** Successes and failures of the last 24 hours, as a sparkline. */
export function DaySparkline({ endpoint }: { endpoint: string }) {
  const data = useDay(endpoint);
  if (data === undefined || data.totals.published === 0)
    return <span className="soft">{common.nothing}</span>;
  const { delivered, failed } = data.totals;
  return (
    <Sparkline
      label={texts.inADay(whole(delivered), whole(failed))}
      up={data.buckets.map((each) => each.delivered)}
      down={data.buckets.map((each) => each.failed)}
    />
  );
}

/** The failure rate of the last 24 hours. */
export function DayFailureRate({ endpoint }: { endpoint: string }) {
  const totals = useDay(endpoint)?.totals;
  return totals === undefined ? <span className="soft">{common.nothing}</span> : failureRate(totals);
}

/** The median and 95th percentile of the duration of attempts in the last 24 hours. */
export function DayLatency({ endpoint }: { endpoint: string }) {
  const totals = useDay(endpoint)?.totals;
  if (!totals || totals.p50_ms === null || totals.p95_ms === null) {
    return <span className="soft">{common.nothing}</span>;
  }
  return (
    <span className="one-line">
      {whole(totals.p50_ms)} · {milliseconds(totals.p95_ms)}
    </span>
  );
}
