import type { Readable, Writable } from 'node:stream';
import type { Sql } from 'sql-template-tag';
import type { Author } from '../kernel/author.ts';
import type { TraceContext } from '../kernel/trace.ts';
import type { SignOfLife } from './listen.ts';
import type { PoolUse } from './pool.ts';

/** Runs single statements. GET handlers get one: its connections refuse every write in PostgreSQL itself. */
export interface Reader {
  /** The number of the cell whose data it is. */
  readonly cell: number;
  /**
   * Rows of a statement: bigint for int8 and whole numerics, RFC 3339 text for instants, text for JSON. A `name`
   * keeps it prepared on the connection, which pays for statements that run in every request and always read the
   * same; one name is one text.
   */
  rows<Row>(query: Sql, name?: string): Promise<Row[]>;
}

/** One open transaction (READ COMMITTED). Functions that write require it, so nothing is written outside one. */
export interface Tx extends Reader {
  readonly writes: true;
  /** As `Database.scopeKey`. */
  readonly scopeKey: object;
  /** As in the shape of the transaction. */
  readonly trace: TraceContext | null;
  /** Who asked for what the transaction does; null = nobody, or several at once. */
  readonly by: Author | null;
  /** A stream into `COPY … FROM STDIN`; wait for its end before the next statement. */
  copyIn(statement: string): Writable;
  /**
   * Notifies the listeners of `onAnnounced` once, if this transaction commits. Its work is due since at most `earlierMs` milliseconds
   * before the beginning; default: 0.
   */
  announce(earlierMs?: number): void;
  /** Calls `listener` when the transaction is over; false = it may not be stored. */
  onEnd(listener: (isCommitted: boolean) => void): void;
}

/** Statements on one snapshot (REPEATABLE READ, read only). */
export interface Snapshot extends Reader {
  /**
   * The bytes of `COPY (…) TO STDOUT`: the last statement of the snapshot, which then lasts as long as the stream.
   * Destroying the stream early destroys its connection too.
   */
  copyOut(statement: string): Readable;
  /** As `copyOut`, but the snapshot goes on when `work` has read the stream to its end. Returns how many rows it had. */
  copyThrough(statement: string, work: (stream: Readable) => Promise<void>): Promise<number>;
}

/**
 * The shape of a transaction. A `single` one consists of one statement, which takes one round trip instead of
 * three. `work` must not run a second one, and an error it throws afterwards does not undo the first.
 */
export interface Shape {
  readonly single?: boolean;
  /** Its statements may last 24 hours instead of 5 minutes; not with `single`. */
  readonly takesLong?: boolean;
  /** The trace that it belongs to. */
  readonly trace?: TraceContext | null;
  /** Who asked for it. */
  readonly by?: Author;
}

/** How a replica is doing. */
export interface ReplicaState {
  /** Why it is left out, in words that follow "the replica"; null = it is read from. */
  readonly problem: string | null;
  /** For how long it has not had what the primary has, in ms; null = that is not known. */
  readonly lagMs: number | null;
  /** Bytes of WAL that it has not replayed; null = that is not known. */
  readonly lagBytes: number | null;
  /** Whether the primary keeps the rows that long downloads read there; null = that is not known. */
  readonly hasFeedback: boolean | null;
}

/** The state of the replica, as this process sees it. */
interface ReplicaWatch {
  /** As it was last seen. */
  state(): ReplicaState;
  /** Looks at it now. Never rejects. */
  look(): Promise<ReplicaState>;
}

/** What one request reads from. */
export interface Reads extends Pick<Database, 'reader' | 'snapshot'> {
  /** Who answered what was read last. */
  from(): 'primary' | 'replica';
}

export interface Database {
  /** The number of its cell. */
  readonly cell: number;
  readonly reader: Reader;
  /** The same object for all transactions of this database in this process: the key of what belongs to it (couriers, instruments). */
  readonly scopeKey: object;
  /**
   * Runs `work` in one transaction: commits when it resolves, rolls back when it throws. It runs again after a
   * NeedsLocksFirst, and when an event found no partition of its week, which is made then.
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>, shape?: Shape): Promise<Result>;
  /** Runs statements that must agree with each other: all see one snapshot, and none can write. */
  snapshot<Result>(work: (db: Snapshot) => Promise<Result>): Promise<Result>;
  /**
   * For one request: reads that a replica may answer. They see everything that was committed before the first of them;
   * where the replica does not, or not in time, the primary answers.
   */
  reads(): Reads;
  /** null = all reads go to the primary. */
  readonly replica: ReplicaWatch | null;
  /**
   * The same database on a few connections of its own, for requests that have no identity (yet). They wait for each other,
   * and nobody else waits for them.
   */
  readonly anonymous: Database;
  /**
   * As `transaction`, on the few connections of the delivery engine. It does not wait for requests, and its plans
   * use indexes even if the queue's statistics say that the table is empty.
   */
  engine<Result>(work: (tx: Tx) => Promise<Result>, shape?: Shape): Promise<Result>;
  /**
   * Runs a statement outside any transaction, which some require (DETACH … CONCURRENTLY). It waits a few seconds at
   * most for locks. Throws PoolerError when a pooler is in the way.
   */
  outsideTransaction(statement: Sql): Promise<void>;
  /**
   * Calls `listener` after each commit of a transaction that announced, with the milliseconds since its work may be due; returns
   * what ends it.
   */
  onAnnounced(listener: (ageMs: number) => void): () => void;
  /**
   * Calls `listener` with the payload of each NOTIFY of a channel, from any process, and with null whenever a connection is
   * made; returns what ends it. Notifications are hints: some may be missed.
   */
  listen(channel: string, listener: (payload: string | null) => void, sign?: SignOfLife): () => Promise<void>;
  /** How the pools are used at the moment, each by what it is for. */
  pools(): readonly PoolUse[];
  /** Replaces every connection before it is used again. */
  renew(): void;
  /** Waits for the connections in use, then closes all. */
  close(): Promise<void>;
}

/** Rows of a statement. */
export function rows<Row>(db: Reader, query: Sql, name?: string): Promise<Row[]> {
  return db.rows<Row>(query, name);
}

/** The first row of a statement, or null. */
export async function maybeRow<Row>(db: Reader, query: Sql, name?: string): Promise<Row | null> {
  return (await db.rows<Row>(query, name))[0] ?? null;
}

/** The one row of a statement that always returns one. */
export async function oneRow<Row>(db: Reader, query: Sql, name?: string): Promise<Row> {
  const row = await maybeRow<Row>(db, query, name);
  if (row === null) throw new Error('a statement that always gives a row gave none');
  return row;
}
