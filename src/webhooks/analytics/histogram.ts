import type { DeliverySums } from './record.ts';

/*
 * Decodes the codes of attempts that PostgreSQL's `attempt_code` computes (migration 28): 64 times the class of the
 * answer, plus a span of durations. Up to 11 ms every millisecond has its own span; from there each span is 18 % longer
 * than the previous one.
 */
const SPANS = 64;
const EXACT = 12;
const GROWTH = 1.18;
const NO_ANSWER = 1;
const CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;

/** The duration that represents a span, in whole milliseconds: at most 9 % from any duration in it, up to 65 s. */
export function durationOf(span: number): number {
  if (span < EXACT) return span;
  const edge = (steps: number) => Math.ceil(EXACT * GROWTH ** steps);
  const [shortest, longest] = [edge(span - EXACT), edge(span - EXACT + 1) - 1];
  return Math.round(Math.sqrt(shortest * longest));
}

type AttemptSums = Pick<DeliverySums, 'attempts' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'answers'>;

/** Summarizes numbers of attempts by code. A percentile is the duration of the attempt at which that share is reached. */
export function summarize(counts: ReadonlyMap<number, number>): AttemptSums {
  const ofClass = (wanted: number) =>
    [...counts].reduce((sum, [code, n]) => (Math.floor(code / SPANS) === wanted ? sum + n : sum), 0);
  const durations = [...counts].map(([code, n]) => [code % SPANS, n] as const).sort(([a], [b]) => a - b);
  const attempts = durations.reduce((sum, [, n]) => sum + n, 0);
  const percentile = (percent: number) => {
    let left = Math.ceil((attempts * percent) / 100);
    for (const [span, n] of durations) {
      left -= n;
      if (left <= 0) return durationOf(span);
    }
    return null;
  };
  return {
    attempts,
    p50_ms: percentile(50),
    p95_ms: percentile(95),
    p99_ms: percentile(99),
    answers: {
      ...(Object.fromEntries(CLASSES.map((name) => [name, ofClass(Number(name[0]))])) as Record<
        (typeof CLASSES)[number],
        number
      >),
      none: ofClass(NO_ANSWER),
    },
  };
}
