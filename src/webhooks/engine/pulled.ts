import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { slowClock } from '../../db/clock.ts';
import { type Database, rows, type Tx } from '../../db/database.ts';
import { type AccountId, type EndpointId, type EventId, idOf, timeIn } from '../../kernel/ids.ts';
import { signal } from '../../kernel/signals.ts';
import { formatInstant } from '../../kernel/time.ts';
import { instrumentsOf } from '../../metrics/instruments.ts';
import { notify } from '../../notices/notices.ts';
import { holdKeys, letNextGo } from '../../outbox/keys.ts';
import { CLAIMED } from '../../outbox/order.ts';
import { outcomeOf } from './measure.ts';
import { nextDelay } from './schedule.ts';
import { type Hopeless, noteEndpoints, type Result, settle } from './settle.ts';
import { type Disabling, PATIENCE } from './write.ts';

/*
 * Results of deliveries that consumers claimed from pull endpoints (docs/decisions/0118). They are written as those of workers
 * are: the token of the lease decides whose result counts.
 */

/** The result of a claimed delivery. Its token is that of the lease. */
export interface Report {
  readonly event: EventId;
  readonly token: string;
  readonly status: 'delivered' | 'failed' | 'cancelled';
  /** Why it was not delivered; null if it was. */
  readonly error: {
    readonly code: 'consumer_failed' | 'consumer_cancelled' | 'lease_expired';
    readonly message: string;
  } | null;
}

interface Place {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
}

interface HeldRow {
  readonly event: EventId;
  readonly token: string;
  readonly step: number;
  readonly orderingKey: string | null;
  /** Milliseconds since 1970. */
  readonly now: bigint;
}

/**
 * Writes results of deliveries of a pull endpoint: attempts, log, queue and the state of the endpoint. Returns those whose leases
 * were still held, as `event token`: other results change nothing. It must be the first statement of a transaction that locks
 * anything, because it waits for publishers of ordering keys.
 */
export async function settleClaimed(
  tx: Tx,
  { account, endpoint }: Place,
  reports: readonly Report[],
  scheduleMs: readonly number[],
): Promise<ReadonlySet<string>> {
  const held = await rows<HeldRow>(
    tx,
    sql`select q.event_id as event, q.lease_token as token, q.step, q.ordering_key as "orderingKey",
               (extract(epoch from now_ms()) * 1000)::int8 as now
        from unnest(${reports.map(({ event }) => event)}::uuid[], ${reports.map(({ token }) => token)}::uuid[]) as r (event, token)
        join queue q on q.event_id = r.event and q.endpoint_id = ${endpoint}
        where q.account_id = ${account} and q.lease_token = r.token and q.claim is not null`,
    'find_claimed',
  );
  const keys = await holdKeys(
    tx,
    held.flatMap(({ orderingKey }) => (orderingKey === null ? [] : [{ endpoint, orderingKey }])),
    { waits: true },
  );
  const rowOf = new Map(held.map((row) => [`${row.event} ${row.token}`, row]));
  const results = reports.flatMap((report) => {
    const row = rowOf.get(`${report.event} ${report.token}`);
    return row ? [resultOf({ account, endpoint }, report, row, scheduleMs)] : [];
  });
  if (results.length === 0) return new Set();
  const settled = await settle(tx, results);
  await letNextGo(tx, keys);
  await noteResults(
    tx,
    { account, endpoint },
    settled.map(({ result }) => result),
  );
  const last = settled.filter(({ isLast }) => isLast).length;
  const subject = idOf('we', endpoint);
  if (last > 0)
    await notify(tx, [{ account, kind: 'deliveries_failed', subject, count: last, data: { host: subject } }]);
  measureResults(
    tx,
    settled.map(({ result }) => result),
  );
  return new Set(settled.map(({ result }) => `${result.delivery.event} ${result.token}`));
}

function resultOf(
  place: Place,
  { event, token, status, error }: Report,
  { step, now }: HeldRow,
  scheduleMs: readonly number[],
): Result {
  const at = timeIn(token);
  return {
    delivery: { ...place, event },
    token,
    succeeded: status === 'delivered',
    lost: false,
    cancelled: status === 'cancelled',
    retryMs:
      status === 'failed'
        ? nextDelay(scheduleMs, { step: step + 1, retryAfterMs: null, random: Math.random() })
        : null,
    startedAt: formatInstant(at),
    durationMs: Math.max(0, Number(now) - at),
    url: '',
    requestHeaders: null,
    responseStatus: null,
    responseHeaders: null,
    responseBody: null,
    responseTruncated: false,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  };
}

/** Writes what the results show about the endpoint, if it is news: most successes are not. */
async function noteResults(tx: Tx, { account, endpoint }: Place, results: readonly Result[]): Promise<void> {
  const failures = results.filter(({ succeeded, cancelled }) => !succeeded && !cancelled).length;
  const succeeded = results.some((result) => result.succeeded);
  const [state] = await rows<{ isNews: boolean }>(
    tx,
    sql`select failures > 0 or coalesce(last_success_at < now() - interval '1 minute', true) as "isNews"
        from endpoint_state where account_id = ${account} and endpoint_id = ${endpoint}`,
  );
  if (failures === 0 && !(succeeded && state?.isNews)) return;
  await noteEndpoints(tx, [{ account, endpoint, succeeded, failures, lane: 'stay', waitMs: 0 }], PATIENCE);
}

/** Counts the results and says that they are written, after the commit. */
function measureResults(tx: Tx, results: readonly Result[]): void {
  const instruments = instrumentsOf(tx);
  tx.onEnd((isCommitted) => {
    if (!isCommitted) return;
    signal('settled', results.length);
    for (const result of results)
      instruments?.count('delivery', 1, { outcome: outcomeOf('scheduled', result) });
  });
}

const AT_ONCE = 200;
const EXPIRED = {
  code: 'lease_expired',
  message: 'the lease ended before the consumer acknowledged the event',
} as const;

interface Expired extends Place {
  readonly event: EventId;
  readonly token: string;
}

interface Tending {
  readonly db: Database;
  readonly log: Logger;
  readonly config: { readonly scheduleMs: readonly number[] };
  disableEndpoint(tx: Tx, endpoint: Disabling): Promise<boolean>;
}

/**
 * Writes the attempts of consumers whose leases have ended as failed, and disables pull endpoints where every attempt has
 * failed for too long. Any number of workers may do so at once.
 */
export async function tendClaims({ db, log, config, disableEndpoint }: Tending): Promise<void> {
  for (;;) {
    const expired = await db.engine((tx) =>
      rows<Expired>(
        tx,
        sql`select q.account_id as account, q.endpoint_id as endpoint, q.event_id as event, q.lease_token as token
            from webhook_endpoints e
            cross join lateral (
              select * from queue q where q.account_id = e.account_id and q.endpoint_id = e.id and q.generation = ${CLAIMED}
                and q.due_at <= now() order by q.due_at limit ${AT_ONCE}::int) q
            where e.pull and e.deleted_at is null limit ${AT_ONCE}::int`,
        'expired_claims',
      ),
    );
    for (const { account, endpoint } of new Map(expired.map((each) => [each.endpoint, each])).values()) {
      const reports = expired
        .filter((each) => each.endpoint === endpoint)
        .map(({ event, token }) => ({ event, token, status: 'failed', error: EXPIRED }) as const);
      await db.engine((tx) => settleClaimed(tx, { account, endpoint }, reports, config.scheduleMs));
    }
    if (expired.length < AT_ONCE) break;
  }
  for (const endpoint of await db.engine(findHopeless)) {
    const isDone = await db.engine((tx) => disableEndpoint(tx, { ...endpoint, reason: 'failing' }));
    if (isDone) log.warn({ ...endpoint, reason: 'failing' }, 'an endpoint was disabled');
  }
}

/** The pull endpoints where every attempt has failed for too long. */
const findHopeless = (tx: Tx): Promise<Hopeless[]> =>
  rows(
    tx,
    sql`select s.account_id as account, s.endpoint_id as endpoint from endpoint_state s
        join webhook_endpoints e on e.account_id = s.account_id and e.id = s.endpoint_id
        where s.failing_since <= ${slowClock} - ${PATIENCE.ms}::int8 * interval '1 millisecond'
          and s.failures >= ${PATIENCE.failures} and e.pull and e.disabled_at is null and e.deleted_at is null`,
    'find_hopeless',
  );
