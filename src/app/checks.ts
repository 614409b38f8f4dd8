import { statfs } from 'node:fs/promises';
import type { Database } from '../db/database.ts';
import { databaseFault } from '../db/faults.ts';
import { hasPartitionsAhead } from '../db/partitions.ts';
import { workNobodyClaims } from '../webhooks/engine/idle.ts';

/** A problem that keeps a server from working: a code for programs, a sentence for people. */
export interface Problem {
  readonly reason:
    | 'stopping'
    | 'database'
    | 'read_only'
    | 'disk_full'
    | 'writing'
    | 'partitions'
    | 'delivery';
  readonly message: string;
}

/** What the checks examine. */
export interface Subject {
  readonly db: Pick<Database, 'reader'>;
  /** The data folder; null = PostgreSQL is elsewhere. */
  readonly folder: string | null;
  /** The timeout of an attempt. */
  readonly timeoutMs: number;
  /** Writes something, or rejects with PostgreSQL's error. */
  tryWriting(): Promise<void>;
}

/** A condition for a server to be ready. */
interface Check {
  readonly name: 'disk' | 'writing' | 'partitions' | 'delivery';
  /** The text if it holds. */
  readonly fine: string;
  /** What to do if it does not hold. */
  readonly remedy: string;
  /** null = it holds. Rejects if PostgreSQL does; `problemOf` maps the error. */
  look(subject: Subject): Promise<Problem | null>;
}

const MEGABYTE = 1024 ** 2;
/** With less space PostgreSQL may fail in the middle of a write. */
const LEAST_FREE = 32 * MEGABYTE;

/** The checks of /readyz and doctor, in this order. */
export const CHECKS: readonly Check[] = [
  {
    name: 'disk',
    fine: 'has room',
    remedy: 'free some space, or shorten WEBHOOK_RETENTION_DAYS',
    async look({ folder }) {
      if (folder === null || (await roomOf(folder)).free_bytes >= LEAST_FREE) return null;
      return { reason: 'disk_full', message: 'the disk of the data folder is full: free some space' };
    },
  },
  {
    // a database that can be read may still not be writable: a standby, or a full disk
    name: 'writing',
    fine: 'the database accepts changes',
    remedy: 'point DATABASE_URL to the primary, and read the log of PostgreSQL',
    look: ({ tryWriting }) => tryWriting().then(() => null),
  },
  {
    name: 'partitions',
    fine: 'made ahead',
    remedy: 'start the server or run payhook migrate',
    async look({ db }) {
      if (await hasPartitionsAhead(db.reader)) return null;
      return {
        reason: 'partitions',
        message: "there is no table for next week's events; it is being created",
      };
    },
  },
  {
    name: 'delivery',
    fine: 'no delivery has been due for long without a worker',
    remedy: 'start a server with DELIVERY_WORKER=on, or payhook worker',
    async look({ db, timeoutMs }) {
      if (!(await workNobodyClaims(db.reader, timeoutMs))) return null;
      return {
        reason: 'delivery',
        message: 'deliveries are due, but no worker claims them; check that one is running',
      };
    },
  },
];

/** Disk space in bytes. */
export interface Room {
  readonly free_bytes: number;
  readonly total_bytes: number;
}

/** The space on the disk of a folder. */
export async function roomOf(folder: string): Promise<Room> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}

/** The problem behind an error of PostgreSQL in a check. */
export function problemOf(error: unknown): Problem {
  switch (databaseFault(error)) {
    case 'unavailable':
      return { reason: 'database', message: 'PostgreSQL cannot be reached' };
    case 'disk_full':
      return { reason: 'disk_full', message: "the database's disk is full: free some space" };
    case 'read_only':
      return {
        reason: 'read_only',
        message: 'the database accepts no changes: it is a standby, or set to read-only',
      };
    default:
      return { reason: 'writing', message: 'the database refuses to write; its log says why' };
  }
}

/** The result of a check. */
export interface Checked {
  readonly name: Check['name'];
  readonly problem: Problem | null;
  /** The text if it holds, or the problem and its remedy. */
  readonly detail: string;
}

/** Runs all checks, for people. Never rejects. */
export function makeChecks(subject: Subject): Promise<Checked[]> {
  return Promise.all(
    CHECKS.map(async ({ name, fine, remedy, look }) => {
      const problem = await look(subject).catch(problemOf);
      return { name, problem, detail: problem === null ? fine : `${problem.message}. Remedy: ${remedy}` };
    }),
  );
}
