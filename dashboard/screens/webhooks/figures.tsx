import type { DeliveryAnalytics } from '../../../src/client/api.ts';
import { useRead } from '../../data/queries.ts';
import { whole } from '../../parts/format.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { common } from '../../texts/common.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';

/** A time as it stands in a sentence: `1,204 ms`. */
export const milliseconds = (ms: number) => `${whole(ms)}\u00a0ms`;

/** How many of the attempts were not answered with 2xx: `3.2 %`. */
export function failureRate({
  attempts,
  answers,
}: Pick<DeliveryAnalytics['totals'], 'attempts' | 'answers'>) {
  if (attempts === 0) return common.nothing;
  const percent = (100 * (attempts - answers['2xx'])) / attempts;
  // neither none nor all by rounding
  const shown = percent > 0 && percent < 0.1 ? '< 0.1' : String(Math.floor(percent * 10) / 10);
  return `${shown} %`;
}

// all cells of a row ask the same, which is asked once
const useDay = (endpoint: string) =>
  useRead('getDeliveryAnalytics', { query: { webhook_endpoint_id: endpoint } }, { isLive: true }).data;

/** What was delivered and what failed in 24 hours, as small bars. */
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

/** The failure rate of 24 hours. */
export function DayFailureRate({ endpoint }: { endpoint: string }) {
  const totals = useDay(endpoint)?.totals;
  return totals === undefined ? <span className="soft">{common.nothing}</span> : failureRate(totals);
}

/** The median and the 95th percentile of what attempts of 24 hours took. */
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
