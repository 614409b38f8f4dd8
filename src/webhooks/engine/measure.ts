import type { Database } from '../../db/database.ts';
import { idOf } from '../../kernel/ids.ts';
import type { TraceContext } from '../../kernel/trace.ts';
import { instrumentsOf } from '../../metrics/instruments.ts';
import { type Span, tracerOf } from '../../metrics/traces.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import type { Finished } from './attempt.ts';
import { waitBeforeFirst } from './pace.ts';

/** Records the metrics of a finished attempt. */
export function measureAttempt(db: Database, finished: Finished): void {
  const { delivery, result, isFurther } = finished;
  const instruments = instrumentsOf(db);
  if (instruments === undefined) return;
  instruments.count('delivery', 1, { outcome: outcomeOf(delivery.trigger, result) });
  if (!isFurther) instruments.observe('attempt', result.durationMs / 1000);
  const waitedMs = waitBeforeFirst(finished);
  if (waitedMs !== null) instruments.observe('latency', waitedMs / 1000);
}

/** The outcome of an attempt, as metrics name it. */
export function outcomeOf(
  trigger: string,
  { succeeded, lost, cancelled, retryMs }: Finished['result'],
): string {
  if (succeeded) return 'delivered';
  if (lost) return 'lost';
  if (cancelled) return 'cancelled';
  // an attempt by hand is outside the schedule
  return retryMs === null || trigger !== 'scheduled' ? 'failed' : 'retrying';
}

/** Begins the span of an attempt, for a batch that of its first delivery; undefined if nothing is traced. */
export function beginAttempt(db: Database, delivery: Leased, parent: TraceContext | null): Span | undefined {
  return tracerOf(db)?.start({
    kind: 'client',
    name: 'attempt',
    parent,
    attributes: {
      'http.request.method': 'POST',
      'server.address': new URL(delivery.url).hostname,
      'payhook.event_id': idOf('evt', delivery.event),
      'payhook.webhook_endpoint_id': idOf('we', delivery.endpoint),
      'payhook.trigger': delivery.trigger,
    },
  });
}

/** Ends the span with the result of the attempt. */
export function endAttempt(span: Span | undefined, { result }: Finished): void {
  const { responseStatus, errorCode, succeeded } = result;
  const attributes = {
    'http.response.status_code': responseStatus ?? undefined,
    'error.type': errorCode ?? undefined,
  };
  span?.end(attributes, !succeeded);
}
