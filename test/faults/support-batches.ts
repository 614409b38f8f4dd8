import { expect } from 'vitest';
import type { Received } from '../support/receiver.ts';
import type { DataFolder } from './support-server.ts';

/** The batch settings of the endpoint of these tests: most batches are full under load, and none waits long. */
export const BATCH = { max_events: 10, max_wait_ms: 50 };

interface Attempt {
  readonly event: string;
  readonly code: string | null;
  readonly status: number | null;
  /** null = a lost attempt has no headers. */
  readonly batch: string | null;
  readonly size: string | null;
}

/** The ids of the events in a batch, in its order. */
export const idsIn = ({ body }: Received): string[] =>
  (JSON.parse(body) as { id: string }[]).map(({ id }) => id);

/**
 * Proves that batches obey their rules, whatever was killed meanwhile: the log knows every request, as an attempt of
 * each of its events or as lost, and events that failed once were sent alone from then on. `bodyOf` is the body of an
 * event at an endpoint without batches. Returns how many requests arrived, and how many attempts were lost.
 */
export async function expectBatches(
  folder: DataFolder,
  received: readonly Received[],
  bodyOf: (event: string) => string | undefined,
): Promise<string> {
  const batches = new Map<string, readonly string[]>();
  for (const request of received) {
    const ids = idsIn(request);
    expect(ids, 'each event once, in the order of their ids').toEqual([...new Set(ids)].sort());
    expect(ids.length).toBeLessThanOrEqual(BATCH.max_events);
    expect(request.headers['webhook-batch-size']).toBe(String(ids.length));
    expect(request.body).toBe(`[${ids.map(bodyOf).join(',')}]`);
    const name = String(request.headers['webhook-id']);
    expect(batches.get(name) ?? ids, 'a repeated batch is another batch').toEqual(ids);
    batches.set(name, ids);
  }

  const attempts = await folder.query<Attempt>(
    `select public_id('evt', a.event_id) as event, a.error_code as code, a.response_status as status,
            a.request_headers->>'webhook-id' as batch, a.request_headers->>'webhook-batch-size' as size
     from attempts a join webhook_endpoints e on e.account_id = a.account_id and e.id = a.endpoint_id
     where e.batch_events is not null order by a.event_id, a.number`,
  );
  const answered = attempts.filter(({ status }) => status !== null);
  expect(
    answered.filter(({ event, batch, size }) => {
      const ids = batches.get(batch ?? '');
      return !ids?.includes(event) || String(ids.length) !== size;
    }),
    'the batch in the log is the received one',
  ).toEqual([]);

  const sent = countBy([...batches.values()].flat());
  const together = countBy([...batches.values()].filter(({ length }) => length > 1).flat());
  const logs = new Map<string, Attempt[]>();
  for (const attempt of attempts) logs.set(attempt.event, [...(logs.get(attempt.event) ?? []), attempt]);
  const wrong = [...sent].filter(([event, times]) => {
    const log = logs.get(event) ?? [];
    const failed = log.findIndex(({ code }) => code !== null && code !== 'lost');
    const [before, after] = failed < 0 ? [log, []] : [log.slice(0, failed + 1), log.slice(failed + 1)];
    const wasAlone = after.every(({ size }) => size === null || size === '1');
    return times > log.length || (together.get(event) ?? 0) > before.length || !wasAlone;
  });
  expect(
    wrong.map(([event, times]) => ({ event, times, log: logs.get(event) })),
    'sent without being logged, or together with others after it failed',
  ).toEqual([]);
  const lost = attempts.filter(({ code }) => code === 'lost').length;
  return `${batches.size} batches of ${sent.size} events, ${lost} attempts of theirs lost`;
}

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
