import { randomUUID } from 'node:crypto';
import pg from 'pg';
import sql from 'sql-template-tag';
import { coalesce } from '../kernel/coalesce.ts';
import { type ConnectionTarget, type ConnectOptions, connect, FIRST_CELL } from './connect.ts';
import { type Database, oneRow, type Reader, type Reads, type ReplicaState } from './database.ts';
import { isUnavailable } from './faults.ts';
import { hostsOf } from './hosts.ts';
import type { CellPlace, PoolUse } from './pool.ts';
import { type Link, openLink, type ReplicaFacts, ReplicaProblem } from './replica-link.ts';
import { readSetting, writeSetting } from './settings.ts';
import { startWatch } from './watch.ts';

/*
 * A replica is behind by some milliseconds, or by hours. So a request first asks the primary how far its WAL is on the disk:
 * everything that was reported as stored lies before this position. The replica answers once it has replayed as far,
 * and the primary does when that takes too long. So nobody, on whichever server, reads anything older than what they, or
 * anyone they learned it from, could have seen (docs/decisions/0044-a-replica-answers-once-it-has-caught-up.md).
 */

/** A replica that is watched, and read from while it is well. */
interface Replica extends NonNullable<Database['replica']> {
  reads(): Reads;
  pools(): PoolUse[];
  close(): Promise<void>;
}

interface ReplicaOptions {
  readonly target: ConnectionTarget;
  /** What is written to the primary must be seen to arrive there before it is read from. */
  readonly proves: boolean;
  /** Called when reads begin to use it (null), and with the reason when they stop. */
  readonly onChange?: (problem: string | null) => void;
}

interface Options extends ReplicaOptions {
  readonly cell: CellPlace;
  readonly primary: Pick<Database, 'reader' | 'snapshot' | 'transaction'>;
  readonly max: number;
  readonly name: string;
  readonly onIdleError: (error: Error) => void;
}

/** How long a request waits for the replica to have what the primary has. */
const WAIT_MS = 100;
const LOOK_AGAIN_MS = 500;
/** Statements compare instants with the clock of the server that runs them. */
const CLOCK_MS = 1000;
const REPORTED_LAG_MS = 2000;
const BEHIND = 'does not have what the primary has';
const PROOF = 'replica_proof';

/** Where the primary is. */
interface Position {
  /** Everything that was reported as committed lies before it. */
  readonly lsn: bigint;
  /** Another one after each promotion. */
  readonly timeline: string;
}

/** As `connect`, with a replica that is read from too, if there is one. */
export function connectReplicated(options: ConnectOptions, replica: ReplicaOptions | undefined): Database {
  const db = connect(options);
  if (replica === undefined) return db;
  const opened = openReplica({
    ...options,
    cell: options.cell ?? FIRST_CELL,
    ...replica,
    primary: db,
    max: options.poolSize,
  });
  return {
    ...db,
    replica: opened,
    reads: opened.reads,
    pools: () => [...db.pools(), ...opened.pools()],
    async close() {
      await opened.close();
      await db.close();
    },
  };
}

/** Begins to watch a replica. The caller closes it. */
function openReplica(options: Options): Replica {
  const { primary, onChange = () => undefined } = options;
  const hosts = hostsOf([options.target]);
  const watch = startWatch(hosts, () =>
    options.onIdleError(new Error('connections to the replica went silent')),
  );
  let link: Link | null = null;
  let state: ReplicaState = { problem: 'was not asked yet', ...UNKNOWN };
  let lateSince: number | null = null;
  let looking: Promise<void> | undefined;
  let reported: string | null | undefined;

  // requests that come at about the same time share the question, which is asked after they came
  const position = coalesce(async (asked: readonly unknown[]) => {
    const found = await readPosition(primary.reader);
    return asked.map(() => found);
  });

  function report(problem: string | null): void {
    if (problem === reported) return;
    reported = problem;
    onChange(problem);
  }

  function lose(lost: Link, error: unknown): void {
    lost.cut();
    if (link !== lost) return;
    link = null;
    lateSince = null;
    state = { problem: inWords(error), ...UNKNOWN };
    report(state.problem);
  }

  async function examine(): Promise<void> {
    const before = performance.now();
    // without the primary nothing can be said about the replica, and nobody can ask for anything
    const at = await readPrimary(primary.reader).catch(() => null);
    if (at === null) return;
    link ??= openLink({ ...options, hosts, watch });
    const seen = link;
    try {
      const facts = await seen.look();
      refuseStranger(facts, at, performance.now() - before);
      const isThere = await seen.reach(at.lsn, WAIT_MS);
      if (isThere && options.proves && seen.timeline !== at.timeline) await prove(primary, seen, at.timeline);
      if (link !== seen) return;
      lateSince = isThere ? null : (lateSince ?? before);
      const lag = lagOf(seen, at, lateSince);
      state = { problem: isThere ? null : BEHIND, ...lag, hasFeedback: facts.feedback };
      // it is late for a moment again and again while much is written, which is not worth a line in the log
      if (isThere || lag.lagMs > REPORTED_LAG_MS) report(state.problem);
    } catch (error) {
      if (isWithoutTables(error)) return;
      lose(seen, error);
    }
  }

  const look = () => {
    looking ??= examine().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  /** The replica, once it has everything that is committed by now; null = the primary has to answer. */
  async function choose(): Promise<Link | null> {
    const chosen = link;
    if (chosen === null || state.problem !== null) return null;
    const before = performance.now();
    const at = await position(undefined);
    if (options.proves && at.timeline !== chosen.timeline) return null;
    if (await chosen.reach(at.lsn, WAIT_MS)) return link === chosen ? chosen : null;
    // those who come now do not wait for it again, until it was seen to have caught up
    if (link === chosen) {
      lateSince ??= before;
      state = { ...state, problem: BEHIND, ...lagOf(chosen, at, lateSince) };
    }
    return null;
  }

  const timer = setInterval(() => void look(), LOOK_AGAIN_MS).unref();
  void look();
  return {
    reads: () => readsFrom(primary, choose, () => void look()),
    state: () => state,
    look: () => look().then(() => state),
    pools: () => link?.pools() ?? [],
    async close() {
      clearInterval(timer);
      await looking;
      const last = link;
      link = null;
      await last?.end();
      watch.close();
    },
  };
}

/** Writes something to the primary and sees that it arrives, which it does at no server that follows another one. */
async function prove(primary: Options['primary'], seen: Link, timeline: string): Promise<void> {
  const value = randomUUID();
  await primary.transaction((tx) => writeSetting(tx, PROOF, value));
  const { lsn } = await readPosition(primary.reader);
  const isThere = await seen.reach(lsn, WAIT_MS);
  // another server may have written its own meanwhile: then the next look shows it
  const [here, there] = [await readSetting(primary.reader, PROOF), await readSetting(seen.reader, PROOF)];
  if (!isThere || here !== there) {
    throw new ReplicaProblem(
      'does not get what is written to the primary: is it a replica of this database?',
    );
  }
  seen.timeline = timeline;
}

/** How far a replica is behind, of which it has not been seen to have everything since `lateSince` (null = it has). */
const lagOf = (seen: Link, { lsn }: Position, lateSince: number | null) => ({
  lagMs: lateSince === null ? 0 : Math.round(performance.now() - lateSince),
  lagBytes: Math.max(0, Number(lsn - seen.replayed())),
});

const UNKNOWN = { lagMs: null, lagBytes: null, hasFeedback: null };

/** What a request reads from: the replica if it is chosen, and the primary from the moment the replica fails. */
function readsFrom(
  primary: Options['primary'],
  choose: () => Promise<Link | null>,
  suspect: () => void,
): Reads {
  let choice: Promise<Link | null> | undefined;
  let from: 'primary' | 'replica' = 'primary';
  async function read<Result>(
    how: (db: Pick<Reads, 'reader' | 'snapshot'>) => Promise<Result>,
  ): Promise<Result> {
    choice ??= choose();
    const link = await choice;
    if (link === null) return how(primary);
    try {
      const result = await how(link);
      from = 'replica';
      return result;
    } catch (error) {
      if (!isOfReplica(error)) throw error;
      choice = Promise.resolve(null);
      from = 'primary';
      if (isUnavailable(error)) suspect();
      return how(primary);
    }
  }
  return {
    reader: { cell: primary.reader.cell, rows: (query, name) => read((db) => db.reader.rows(query, name)) },
    snapshot: (work) => read((db) => db.snapshot(work)),
    from: () => from,
  };
}

/** Whether the primary may succeed. What took too long, or was cancelled by hand (57014), is not repeated there. */
function isOfReplica(error: unknown): boolean {
  return isUnavailable(error) || (error instanceof pg.DatabaseError && error.code !== '57014');
}

/** The first server on a new database looks before it has made the tables, and again a moment later. */
const isWithoutTables = (error: unknown) => error instanceof pg.DatabaseError && error.code === '42P01';

function readPosition(db: Reader): Promise<Position> {
  return oneRow<Position>(db, sql`select ${place}`, 'position');
}

/** Without synchronous_commit a commit is reported before it is on the disk. */
const place = sql`at.lsn - '0/0' as lsn, substr(pg_walfile_name(at.lsn), 1, 8) as timeline
  from (select case when current_setting('synchronous_commit') = 'off' then pg_current_wal_insert_lsn()
                    else pg_current_wal_flush_lsn() end as lsn) at`;

type Primary = Position & Pick<ReplicaFacts, 'system' | 'clock_ms'>;

function readPrimary(db: Reader): Promise<Primary> {
  return oneRow<Primary>(
    db,
    sql`select (select system_identifier from pg_control_system()) as system,
          (extract(epoch from clock_timestamp()) * 1000)::int8 as clock_ms, ${place}`,
  );
}

/** Throws ReplicaProblem when a server cannot be a replica of the primary; they were asked within some milliseconds. */
function refuseStranger(replica: ReplicaFacts, primary: Primary, withinMs: number): void {
  if (replica.system !== primary.system) {
    throw new ReplicaProblem('is one of another PostgreSQL than DATABASE_URL names');
  }
  const aheadMs = Number(replica.clock_ms - primary.clock_ms);
  if (aheadMs < -CLOCK_MS || aheadMs > CLOCK_MS + withinMs) {
    throw new ReplicaProblem('has a clock that is more than a second off the clock of the primary');
  }
}

function inWords(error: unknown): string {
  if (error instanceof ReplicaProblem) return error.message;
  return `cannot be reached: ${error instanceof Error ? error.message : String(error)}`;
}
