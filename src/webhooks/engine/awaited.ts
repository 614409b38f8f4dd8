import sql, { type Sql } from 'sql-template-tag';
import { type Database, rows } from '../../db/database.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import { signal } from '../../kernel/signals.ts';
import { unwanted } from '../../outbox/cutoffs.ts';
import { CLAIMED } from '../../outbox/order.ts';

/*
 * Consumers that wait for events of pull endpoints. Those of a process share one statement, which runs when deliveries were
 * queued, and twice a second for those that become due.
 */

/** The most deliveries of a pull endpoint that consumers may hold at once. */
export const MOST_CLAIMED = 1000;

/** SQL: how many more deliveries of pull endpoint `e` consumers may claim. */
export const roomOf = sql`${MOST_CLAIMED}::int - (
  select count(*)::int from queue o
  where o.account_id = e.account_id and o.endpoint_id = e.id and o.generation = ${CLAIMED})`;

/** SQL: the rows `q` of the queue that a consumer may claim from endpoint `e` at a time, in their order. */
export const claimable = (now: Sql): Sql => sql`queue q
  where q.account_id = e.account_id and q.endpoint_id = e.id and (q.generation, q.due_at) <= (e.resumptions, ${now})
    and q.lease_token is null and ${unwanted(sql`q`, now)} is null
  order by q.generation, q.due_at`;

/** A pull endpoint, by UUIDs. */
interface Place {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
}

interface Waiter extends Place {
  readonly wake: () => void;
}

interface Waiting {
  readonly waiters: Set<Waiter>;
  /** Looks soon. */
  hurry(): void;
}

const LOOK_MS = 500;
/** The minimum pause between looks: each published event asks for one. */
const SOON_MS = 10;

const waitingIn = new WeakMap<object, Waiting>();

/** Deliveries of a database were queued, by this process or another one. */
export function noteWork(db: { readonly scopeKey: object }): void {
  waitingIn.get(db.scopeKey)?.hurry();
}

/**
 * Resolves when events may be claimed from an endpoint, when nothing can be claimed there any more, or when `isOver` is
 * aborted. Holds no connection.
 */
export async function untilClaimable(db: Database, place: Place, isOver: AbortSignal): Promise<void> {
  const waiting = waitingIn.get(db.scopeKey) ?? begin(db);
  await new Promise<void>((resolve) => {
    const waiter: Waiter = { ...place, wake };
    function wake(): void {
      waiting.waiters.delete(waiter);
      isOver.removeEventListener('abort', wake);
      resolve();
    }
    if (isOver.aborted) return resolve();
    isOver.addEventListener('abort', wake);
    waiting.waiters.add(waiter);
    waiting.hurry();
    signal('awaited', waiting.waiters.size);
  });
}

function begin(db: Database): Waiting {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  let isLooking = false;

  function schedule(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(look, ms);
  }

  function look(): void {
    isSoon = false;
    if (isLooking) {
      schedule(SOON_MS);
      return;
    }
    isLooking = true;
    wakeSome(db, waiters)
      .catch(() => undefined) // the next look makes up for it
      .finally(() => {
        isLooking = false;
        if (waiters.size > 0 && !isSoon) schedule(LOOK_MS);
      });
  }

  const waiting: Waiting = {
    waiters,
    hurry() {
      if (isSoon || waiters.size === 0) return;
      isSoon = true;
      schedule(SOON_MS);
    },
  };
  waitingIn.set(db.scopeKey, waiting);
  db.onAnnounced(waiting.hurry);
  return waiting;
}

async function wakeSome(db: Database, waiters: ReadonlySet<Waiter>): Promise<void> {
  const asked = [...waiters];
  if (asked.length === 0) return;
  const places = new Map(asked.map((each) => [each.endpoint, each]));
  const found = await rows<{ endpoint: EndpointId }>(
    db.reader,
    sql`select w.endpoint_id as endpoint
        from unnest(${[...places.values()].map(({ account }) => account)}::uuid[], ${[...places.keys()]}::uuid[])
          as w (account_id, endpoint_id)
        left join webhook_endpoints e on e.account_id = w.account_id and e.id = w.endpoint_id
          and e.disabled_at is null and e.deleted_at is null
        left join lateral (select true as is_there from ${claimable(sql`now()`)} limit 1) due on true
        where e.id is null or due.is_there and ${roomOf} > 0`,
    'claimable_endpoints',
  );
  const woken = new Set(found.map(({ endpoint }) => endpoint));
  for (const waiter of asked) if (woken.has(waiter.endpoint)) waiter.wake();
}
