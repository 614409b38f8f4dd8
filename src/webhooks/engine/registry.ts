import { randomInt } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { type Database, rows, type Tx } from '../../db/connect.ts';
import type { SignOfLife } from '../../db/listen.ts';
import { WORKER_SPACE } from '../../db/locks.ts';

const LOOK_MS = 2000;
/**
 * The first pause between looks, until the worker is in the table: it claims nothing before others can know of it.
 */
const FIRST_LOOK_MS = 50;
/** Leases begun by a worker that believed itself alone are committed by then. */
const JOINING_MS = 1500;
/** If no connection can listen, others cannot know of this worker. After this time it works all the same. */
const UNKNOWN_MS = 5000;
const LARGEST_NUMBER = 2 ** 31;

/** A worker among the others of its database. */
export interface Registration {
  /** The number in its leases. */
  readonly number: number;
  /** Held by a connection for as long as the process lives. */
  readonly sign: SignOfLife;
  /** It may lease: the others know of it. */
  isReady(): boolean;
  /** It was the only one when it last looked. */
  isAlone(): boolean;
  /** Removes the worker; its leases expire. */
  close(): Promise<void>;
}

/**
 * Registers a worker, and frees the leases of others that died. A worker that holds no sign of life in two looks in
 * a row, two seconds apart, is dead, and what it had leased is due at once. If one of its results arrives after
 * all, the token of the lease rejects it. `onChange` is called when this worker becomes ready and when leases were
 * freed.
 */
export function register({
  db,
  log,
  leaseMs,
  onChange,
}: {
  db: Database;
  log: Logger;
  leaseMs: number;
  onChange: () => void;
}): Registration {
  const number = randomInt(1, LARGEST_NUMBER);
  const sign = { space: WORKER_SPACE, number };
  const startedAt = performance.now();
  let missing = new Set<number>();
  let isAlone = false;
  let readyAt = startedAt + UNKNOWN_MS;
  let isKnown = false;
  let isClosed = false;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const seen = await db.engine((tx) => seeWorkers(tx, sign, leaseMs), { single: true });
    const others = seen.filter((each) => each.number !== number);
    const gone = others.filter(({ is_alive }) => !is_alive).map((each) => each.number);
    for (const dead of gone.filter((each) => missing.has(each))) {
      const freed = await db.engine((tx) => freeLeases(tx, dead));
      log.warn({ worker: dead, deliveries: freed }, 'a worker died: what it had under way is due again');
    }
    if (gone.some((each) => missing.has(each))) onChange();
    missing = new Set(gone);
    isAlone = others.length === 0;
    if (isKnown || seen.length === others.length) return;
    isKnown = true;
    readyAt = performance.now() + (others.some(({ is_alive }) => is_alive) ? JOINING_MS : 0);
  }

  let wasReady = false;
  const isReady = () => performance.now() >= readyAt;
  function lookAgain(): void {
    looking = look()
      .catch((error: unknown) => {
        if (!isClosed) log.warn({ err: error }, 'looking for other workers failed; it is tried again');
      })
      .then(() => {
        if (isClosed) return;
        if (isReady() && !wasReady) {
          wasReady = true;
          onChange();
        }
        timer = setTimeout(lookAgain, isReady() ? LOOK_MS : FIRST_LOOK_MS);
      });
  }
  let timer: NodeJS.Timeout = setTimeout(lookAgain, 0);

  return {
    number,
    sign,
    isReady,
    isAlone: () => isAlone && isKnown,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
      await db
        .engine((tx) => rows(tx, sql`delete from workers where number = ${number}`), { single: true })
        .catch(() => undefined); // the others notice it themselves
    },
  };
}

interface Seen {
  readonly number: number;
  readonly is_alive: boolean;
}

/** All workers, including this one once it holds its sign of life. */
function seeWorkers(tx: Tx, { space, number }: SignOfLife, leaseMs: number): Promise<Seen[]> {
  return rows<Seen>(
    tx,
    sql`with alive as materialized (
          select objid::int8 as number from pg_locks
          where locktype = 'advisory' and classid = ${space}::int8::oid and objsubid = 2 and granted
            and database = (select oid from pg_database where datname = current_database())),
        joined as (
          insert into workers (number, name, lease_ms)
          select ${number}::int, ${`${hostname()} ${process.pid}`}, ${leaseMs}::int
          where exists (select from alive where number = ${number}::int)
            and not exists (select from workers where number = ${number}::int)
          on conflict do nothing returning number)
        select number, number in (select number from alive) as is_alive from workers
        union all select number, true from joined`,
    'see_workers',
  );
}

/** Ends the leases of a worker that died; returns how many. */
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
