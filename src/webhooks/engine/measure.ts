import type { Database } from '../../db/connect.ts';
import { instrumentsOf } from '../../metrics/instruments.ts';
import type { Finished } from './attempt.ts';

/** Notes an attempt that has ended for metrics. */
export function measureAttempt(db: Database, { delivery, result }: Finished): void {
  const instruments = instrumentsOf(db);
  if (instruments === undefined) return;
  instruments.count('delivery', 1, { outcome: outcomeOf(delivery.trigger, result) });
  instruments.observe('attempt', result.durationMs / 1000);
  if (delivery.step > 0 || delivery.trigger !== 'scheduled') return;
  // both by the database's clock; its corrections must not make a latency negative
  const sinceStored = Date.parse(result.startedAt) - timeIn(delivery.event);
  instruments.observe('latency', Math.max(0, sinceStored) / 1000);
}

function outcomeOf(trigger: string, { succeeded, released, retryMs }: Finished['result']): string {
  if (succeeded) return 'delivered';
  if (released) return 'lost';
  // an attempt by hand is outside the schedule
  return retryMs === null || trigger !== 'scheduled' ? 'failed' : 'retrying';
}

/** Milliseconds since 1970 in a UUID of version 7. */
function timeIn(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}
