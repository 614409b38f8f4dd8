import { statfs } from 'node:fs/promises';
import type { Database } from '../db/database.ts';
import { databaseFault } from '../db/faults.ts';
import { hasPartitionsAhead } from '../db/partitions.ts';
import { workNobodyClaims } from '../webhooks/engine/idle.ts';

/** What keeps a server from doing its work: a code for programs, a sentence for people. */
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

/** What is looked at. */
export interface Subject {
  readonly db: Pick<Database, 'reader'>;
  /** The data folder, when PostgreSQL is in it; null = it is elsewhere. */
  readonly folder: string | null;
  /** The time limit of an attempt. */
  readonly timeoutMs: number;
  /** Writes something, or rejects with the reason of PostgreSQL. */
  tryWriting(): Promise<void>;
}

/** Something that must hold for a server to be ready. */
interface Check {
  readonly name: 'disk' | 'writing' | 'partitions' | 'delivery';
  /** What is said when it holds. */
  readonly fine: string;
  /** What to do when it does not. */
  readonly remedy: string;
  /** null = it holds. Rejects when PostgreSQL does; `problemOf` says what that means. */
  look(subject: Subject): Promise<Problem | null>;
}

const MEGABYTE = 1024 ** 2;
/** With less room PostgreSQL may fail in the middle of a write. */
const LEAST_FREE = 32 * MEGABYTE;

/** What /readyz and doctor look at, in this order. */
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
    // what can be read may still not be writable: a standby, or a full disk
    name: 'writing',
    fine: 'the database accepts changes',
    remedy: 'let DATABASE_URL name the primary, and look at the log of PostgreSQL',
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
    fine: 'nothing has been due for long that nobody takes',
    remedy: 'start a server with DELIVERY_WORKER=on, or payhook worker',
    async look({ db, timeoutMs }) {
      if (!(await workNobodyClaims(db.reader, timeoutMs))) return null;
      return {
        reason: 'delivery',
        message: 'deliveries are due and no worker takes them; check that one is running',
      };
    },
  },
];

/** Room on a disk, in bytes. */
export interface Room {
  readonly free_bytes: number;
  readonly total_bytes: number;
}

/** Room on the disk of a folder. */
export async function roomOf(folder: string): Promise<Room> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}

/** What it means that PostgreSQL did not do what a check asked for. */
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
      return { reason: 'writing', message: 'the database refuses to write; the log says why' };
  }
}

/** What came of a check. */
export interface Checked {
  readonly name: Check['name'];
  readonly problem: Problem | null;
  /** What is fine, or the problem and its remedy. */
  readonly detail: string;
}

/** Makes all checks, for people. Never rejects. */
export function makeChecks(subject: Subject): Promise<Checked[]> {
  return Promise.all(
    CHECKS.map(async ({ name, fine, remedy, look }) => {
      const problem = await look(subject).catch(problemOf);
      return { name, problem, detail: problem === null ? fine : `${problem.message}. Remedy: ${remedy}` };
    }),
  );
}
