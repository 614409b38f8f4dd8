import sql from 'sql-template-tag';
import { type Database, oneRow, type Reader } from './database.ts';
import type { Hosts } from './hosts.ts';
import { type CellPlace, LONGEST_OF_ALL, LONGEST_STATEMENT, openPool, type PoolUse } from './pool.ts';
import type { Session, Settings } from './session.ts';
import { readerOn, snapshotOn } from './statements.ts';
import type { Watch } from './watch.ts';

/** Why a replica cannot be read from, in words that follow "the replica". */
export class ReplicaProblem extends Error {
  override name = 'ReplicaProblem';
  /** To those who ask, it cannot be reached at the moment (faults.ts). */
  readonly code = '57P03';
}

/** What a replica is like. */
export interface ReplicaFacts {
  /** The cluster that it is a copy of. */
  readonly system: bigint;
  readonly clock_ms: bigint;
  /** Whether the primary keeps the rows that are still read here (hot_standby_feedback). */
  readonly feedback: boolean;
}

/** Connections to one server that replicates: to no other one that answers at its address, and only until it is restarted. */
export interface Link {
  readonly reader: Reader;
  readonly snapshot: Database['snapshot'];
  /** The primary's timeline on which the server was proved to follow it; null = it was not yet. */
  timeline: string | null;
  /** The position in the WAL that it was last seen to have replayed. */
  replayed(): bigint;
  /**
   * Whether it has replayed the WAL up to a position, for which it is given some milliseconds. False also when it is lost
   * meanwhile; `look` returns the reason.
   */
  reach(lsn: bigint, ms: number): Promise<boolean>;
  /** Rejects with ReplicaProblem, or what PostgreSQL or the network says; after a second if they say nothing. */
  look(): Promise<ReplicaFacts>;
  pools(): PoolUse[];
  /** Ends the connections at once: what waits on one fails. */
  cut(): void;
  /** Waits for the connections in use, then ends all. */
  end(): Promise<void>;
}

interface LinkOptions {
  readonly cell: CellPlace;
  readonly hosts: Hosts;
  readonly watch: Watch;
  /** Connections for reading, and as many for downloads. */
  readonly max: number;
  readonly name: string;
}

/** After this time the replica counts as gone, and whoever waits for one of its connections goes to the primary. */
const LOOK_MS = 1000;
/** The pause between two questions how far the replica is, while somebody waits for it. */
const ASK_AGAIN_MS = 2;

/** Makes a link; it connects when it is used. The caller ends it. */
export function openLink({ cell, hosts, watch, max, name }: LinkOptions): Link {
  const accept = onlyOne();
  const common = { cell, watch, name, renewals: () => 0, onIdleError: () => undefined };
  const open = (size: number, settings: Settings) =>
    openPool(hosts, { readOnly: true, max: size, accept, patienceMs: LOOK_MS, settings }, common);
  const [reading, snapshots] = [open(max, LONGEST_STATEMENT), open(max, LONGEST_OF_ALL)];
  // one of its own for the position, which must be known however many read
  const asking = open(1, LONGEST_STATEMENT);
  const pools = [reading, snapshots, asking];
  const asked = readerOn(asking);
  const position = followPosition(asked);
  return {
    reader: readerOn(reading),
    snapshot: (work) => snapshotOn(snapshots, work),
    timeline: null,
    ...position,
    look: () => within(LOOK_MS, readFacts(asked)),
    pools: () => [reading.use('replica'), snapshots.use('replica_downloads')],
    cut() {
      for (const pool of pools) pool.cut();
    },
    end: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
  };
}

/** Accepts sessions of the first server that is met, and only while it replicates. */
function onlyOne(): (session: Session) => void {
  let startedAt: string | undefined;
  return (session) => {
    if (!session.isReplica) throw new ReplicaProblem('takes writes: it is none, or was promoted');
    if (!session.isOwn) throw new ReplicaProblem('is behind a pooler: name PostgreSQL itself');
    startedAt ??= session.startedAt;
    if (session.startedAt !== startedAt) {
      throw new ReplicaProblem('was restarted, or several servers answer at its address: name one of them');
    }
  };
}

async function readFacts(db: Reader): Promise<ReplicaFacts> {
  const { is_replica, ...facts } = await oneRow<ReplicaFacts & { is_replica: boolean }>(
    db,
    sql`select pg_is_in_recovery() as is_replica, (select system_identifier from pg_control_system()) as system,
          (extract(epoch from clock_timestamp()) * 1000)::int8 as clock_ms,
          current_setting('hot_standby_feedback') = 'on' as feedback`,
  );
  if (!is_replica) throw new ReplicaProblem('takes writes: it was promoted');
  return facts;
}

interface Waiter {
  readonly lsn: bigint;
  readonly resolve: (isReached: boolean) => void;
}

/** Asks how far a replica is while somebody waits for a position; all who wait share the questions. */
function followPosition(db: Reader): Pick<Link, 'replayed' | 'reach'> {
  const waiting = new Set<Waiter>();
  let replayed = 0n;
  let isAsking = false;

  async function ask(): Promise<void> {
    isAsking = true;
    try {
      while (waiting.size > 0) {
        const { lsn } = await oneRow<{ lsn: bigint | null }>(
          db,
          // one that was promoted has a history of its own from there on
          sql`select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() - '0/0' end as lsn`,
          'replayed',
        );
        if (lsn === null) throw new ReplicaProblem('takes writes: it was promoted');
        replayed = lsn;
        for (const waiter of waiting) if (waiter.lsn <= lsn) waiter.resolve(true);
        if (waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      }
    } catch {
      for (const waiter of waiting) waiter.resolve(false);
    } finally {
      isAsking = false;
    }
  }

  return {
    replayed: () => replayed,
    reach(lsn, ms) {
      if (lsn <= replayed) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => waiter.resolve(false), ms);
        const waiter: Waiter = {
          lsn,
          resolve(isReached) {
            waiting.delete(waiter);
            clearTimeout(timer);
            resolve(isReached);
          },
        };
        waiting.add(waiter);
        if (!isAsking) void ask();
      });
    },
  };
}

/** What work comes to; rejects when it takes longer than some milliseconds. */
async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ReplicaProblem(`does not answer within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
