import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { type Database, rows, type Tx } from '../../db/database.ts';
import type { SignOfLife } from '../../db/listen.ts';
import { workerSpaceOf } from '../../db/locks.ts';
import { type Moment, msSince, thisMoment } from '../../kernel/moments.ts';
import type { DatabaseClock } from './database-clock.ts';

const LOOK_MS = 1000;
/** The pause between checks until the worker is in the table: it claims nothing before others can know of it. */
const FIRST_LOOK_MS = 50;
/** By then, leases begun by a worker that considered itself alone are committed. */
const JOINING_MS = 1500;
/** If no connection can listen, others cannot know of this worker. After this time it works anyway. */
const UNKNOWN_MS = 5000;
/** A worker whose sign of life was missing for this long is dead … */
const DEAD_MS = 3000;
/**
 * … so after a successful check it is not considered dead for this time. It is shorter, because the previous version
 * waits only 2 s.
 */
const SURE_MS = 2000;
const LARGEST_NUMBER = 2 ** 31;

/** A worker among the others of its database. */
export interface Registration {
  /** The number in its leases. It changes if others considered the worker dead. */
  number(): number;
  /** It may lease: the others know of it. */
  isReady(): boolean;
  /** It was the only worker at its last check. */
  isAlone(): boolean;
  /** No other worker can have considered it dead, and PostgreSQL's clock is known. */
  isSure(): boolean;
  /** Checks, unless it is sure already. The check may fail to make it sure. */
  makeSure(): Promise<void>;
  /** Removes the worker. Its leases expire. */
  close(): Promise<void>;
}

interface RegisterOptions {
  readonly db: Database;
  readonly log: Logger;
  /** The duration of this worker's leases. */
  readonly leaseMs: number;
  /** Set by each check. */
  readonly clock: DatabaseClock;
  /** Opens the connection that holds the sign of life. Returns a function that closes it. */
  listen(sign: SignOfLife): () => Promise<void>;
  /** Called when this worker becomes ready and when leases were freed. */
  onChange(): void;
}

/**
 * Registers a worker, and frees the leases of dead ones. A worker whose sign of life is missing in two checks, three
 * seconds apart, is dead, and its leased deliveries are due at once. If one of its results still arrives, the lease token
 * rejects it. A worker that only lost its connection notices at its next check and continues under another number. Until
 * a check has seen its sign of life within two seconds, it is not sure of its leases.
 */
export function register({ db, log, leaseMs, clock, listen, onChange }: RegisterOptions): Registration {
  let number = 0;
  let stopListening = async () => {};
  let isAlone = false;
  let isKnown = false;
  let readyAt = 0;
  /** The start of the last successful check; null = none under this number. */
  let surely: Moment | null = null;
  /** By `performance.now()`: since when the sign of life is missing. */
  let missingFrom: number | null = null;
  const freeDead = createFreeing(db, log);
  let isClosed = false;

  function begin(): void {
    number = randomInt(1, LARGEST_NUMBER);
    readyAt = performance.now() + UNKNOWN_MS;
    isKnown = false;
    isAlone = false;
    wasReady = false;
    surely = null;
    missingFrom = null;
    stopListening = listen({ space: workerSpaceOf(db.cell), number });
  }

  async function beginAgain(): Promise<void> {
    log.warn(
      { worker: number },
      'this worker was considered dead: it starts again, and drops what it had leased',
    );
    const stopped = stopListening();
    begin();
    await stopped;
  }

  async function look(): Promise<void> {
    const askedAt = thisMoment();
    const { now, workers } = await db.engine((tx) => seeWorkers(tx, { number, leaseMs, joins: !isKnown }), {
      single: true,
    });
    const answered = performance.now();
    clock.note(now, askedAt);
    const own = workers.find((each) => each.number === number);
    const others = workers.filter((each) => each !== own);
    isAlone = others.length === 0;
    if (await freeDead(others, { askedAt: askedAt.steady, answered })) onChange();
    if (!isKnown && own) {
      isKnown = true;
      readyAt = performance.now() + (others.some(({ is_alive }) => is_alive) ? JOINING_MS : 0);
    }
    if (!isKnown || own?.is_alive) {
      surely = askedAt;
      missingFrom = null;
      return;
    }
    surely = null;
    missingFrom ??= answered;
    // removed by another worker, or nothing can know of it any more
    if (!own || answered - missingFrom > UNKNOWN_MS) await beginAgain();
  }

  let looking: Promise<void> | undefined;
  function lookNow(): Promise<void> {
    looking ??= look()
      .catch((error: unknown) => {
        if (!isClosed) log.warn({ err: error }, 'looking for other workers failed; it will be retried');
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  let wasReady = false;
  const isReady = () => performance.now() >= readyAt && missingFrom === null;
  const isSure = () => surely !== null && msSince(surely) < SURE_MS;
  async function lookAgain(): Promise<void> {
    await lookNow();
    if (isClosed) return;
    if (isReady() && !wasReady) onChange();
    wasReady = isReady();
    timer = setTimeout(lookAgain, isReady() ? LOOK_MS : FIRST_LOOK_MS);
  }
  begin();
  let timer: NodeJS.Timeout = setTimeout(lookAgain, 0);

  return {
    number: () => number,
    isReady,
    isAlone: () => isAlone && isKnown,
    isSure,
    async makeSure() {
      // a running check may have started too long ago
      if (looking) await looking;
      if (!isSure()) await lookNow();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
      await db
        .engine((tx) => rows(tx, sql`delete from workers where number = ${number}`), { single: true })
        .catch(() => undefined); // the others notice it anyway
      await stopListening();
    },
  };
}

/** The two `performance.now()` around a check. */
interface Looked {
  readonly askedAt: number;
  readonly answered: number;
}

/**
 * Creates a function that frees the leases of workers whose sign of life is missing for too long. It returns whether
 * there were any.
 */
function createFreeing(db: Database, log: Logger) {
  /** When each was first missing. */
  let missing = new Map<number, number>();
  return async (others: readonly Seen[], { askedAt, answered }: Looked): Promise<boolean> => {
    const gone = others.filter(({ is_alive }) => !is_alive).map(({ number }) => number);
    missing = new Map(gone.map((number) => [number, missing.get(number) ?? answered]));
    const dead = [...missing].filter(([, since]) => askedAt - since >= DEAD_MS).map(([number]) => number);
    for (const worker of dead) {
      const freed = await db.engine((tx) => freeLeases(tx, worker));
      log.warn({ worker, deliveries: freed }, 'a worker died: its deliveries in flight are due again');
    }
    return dead.length > 0;
  };
}

interface Seen {
  readonly number: number;
  readonly is_alive: boolean;
}

/**
 * All workers, and milliseconds since 1970 by PostgreSQL's clock. A worker that `joins` is included once it holds its
 * sign of life.
 */
async function seeWorkers(
  tx: Tx,
  { number, leaseMs, joins }: { number: number; leaseMs: number; joins: boolean },
): Promise<{ now: number; workers: readonly Seen[] }> {
  const seen = await rows<Partial<Seen> & { now: bigint }>(
    tx,
    sql`with alive as materialized (
          select objid::int8 as number from pg_locks
          where locktype = 'advisory' and classid = ${workerSpaceOf(tx.cell)}::int8::oid and objsubid = 2 and granted
            and database = (select oid from pg_database where datname = current_database())),
        joined as (
          insert into workers (number, name, lease_ms)
          select ${number}::int, ${`${hostname()} ${process.pid}`}, ${leaseMs}::int
          where ${joins}::boolean and exists (select from alive where number = ${number}::int)
          on conflict do nothing returning number),
        seen as (
          select number, number in (select number from alive) as is_alive from workers
          union select number, true from joined)
        select (extract(epoch from clock_timestamp()) * 1000)::int8 as now, seen.*
        from (values (true)) always left join seen on true`,
    'see_workers',
  );
  return {
    now: Number(seen[0]?.now),
    workers: seen.filter((row): row is typeof row & Seen => row.number != null),
  };
}

/** Ends the leases of a dead worker. Returns their number. */
async function freeLeases(tx: Tx, worker: number): Promise<number> {
  const freed = await rows(
    tx,
    sql`update queue set due_at = now()
        where lease_token is not null and due_at > now() and lease_worker(lease_token) = ${worker}::int
        returning 1`,
  );
  await rows(tx, sql`delete from workers where number = ${worker}::int`);
  if (freed.length > 0) tx.announce();
  return freed.length;
}
