import { statfs } from 'node:fs/promises';
import { databaseFault } from '../db/faults.ts';
import { hasPartitionsAhead } from '../db/partitions.ts';
import { probeWriting } from '../db/settings.ts';
import { workNobodyClaims } from '../webhooks/engine/idle.ts';
import type { Platform } from './platform.ts';

/** Why a server should get no requests: a code for programs, a sentence for people. */
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

const MEGABYTE = 1024 ** 2;
/** With less room PostgreSQL may fail in the middle of a write. */
const LEAST_FREE = 32 * MEGABYTE;
const PATIENCE_MS = 5000;
/** While nothing is wrong, the probes of several load balancers share one check. */
const FRESH_MS = 500;

/** Tells whether a server is ready: null, or the first problem. Never rejects. */
export function readinessOf(platform: Pick<Platform, 'db' | 'log' | 'embedded' | 'config'>): {
  problem(): Promise<Problem | null>;
  /** From now on the server is stopping. */
  stop(): void;
} {
  const { db, log, embedded, config } = platform;
  let stopping = false;
  let looking: Promise<Problem | null> | undefined;
  let wellAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<Problem | null> {
    try {
      if (embedded && (await roomOf(config.dataDir)).free_bytes < LEAST_FREE) {
        return { reason: 'disk_full', message: 'the disk of the data folder is full: free some space' };
      }
      // what can be read may still not be writable: a standby, or a full disk
      await db.transaction(probeWriting);
      if (!(await hasPartitionsAhead(db.reader))) {
        return {
          reason: 'partitions',
          message: "there is no table for next week's events; it is being created",
        };
      }
      if (await workNobodyClaims(db.reader, config.delivery.timeoutMs)) {
        return {
          reason: 'delivery',
          message: 'deliveries are due and no worker takes them; check that one is running',
        };
      }
      return null;
    } catch (error) {
      log.warn({ err: error }, 'not ready');
      return problemOf(error);
    }
  }

  const inTime = (looked: Promise<Problem | null>) =>
    new Promise<Problem | null>((resolve) => {
      const timer = setTimeout(
        () =>
          resolve({
            reason: 'database',
            message: `PostgreSQL does not answer within ${PATIENCE_MS / 1000} s`,
          }),
        PATIENCE_MS,
      );
      void looked.then((problem) => {
        clearTimeout(timer);
        resolve(problem);
      });
    });

  return {
    async problem() {
      if (stopping) return { reason: 'stopping', message: 'the server is about to stop' };
      if (performance.now() - wellAt < FRESH_MS) return null;
      looking ??= look().then((problem) => {
        if (problem === null) wellAt = performance.now();
        looking = undefined;
        return problem;
      });
      return inTime(looking);
    },
    stop() {
      stopping = true;
    },
  };
}

/** Room on the disk of a folder, in bytes. */
export async function roomOf(folder: string): Promise<{ free_bytes: number; total_bytes: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize };
}

function problemOf(error: unknown): Problem {
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
