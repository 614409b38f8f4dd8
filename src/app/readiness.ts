import { probeWriting } from '../db/settings.ts';
import { CHECKS, type Problem, problemOf } from './checks.ts';
import type { Platform } from './platform.ts';

const PATIENCE_MS = 5000;
/** While nothing is wrong, the probes of several load balancers share one check. */
const FRESH_MS = 500;

/** Reports whether a server is ready: null, or the first problem. Never rejects. */
export function readinessOf(platform: Pick<Platform, 'db' | 'log' | 'embedded' | 'config'>): {
  problem(): Promise<Problem | null>;
  /** Marks the server as stopping. */
  stop(): void;
  isStopping(): boolean;
} {
  const { db, log, embedded, config } = platform;
  const subject = {
    db,
    folder: embedded ? config.dataDir : null,
    timeoutMs: config.delivery.timeoutMs,
    tryWriting: () => db.transaction(probeWriting),
  };
  let stopping = false;
  let looking: Promise<Problem | null> | undefined;
  let wellAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<Problem | null> {
    try {
      for (const check of CHECKS) {
        const problem = await check.look(subject);
        if (problem !== null) return problem;
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
    isStopping: () => stopping,
  };
}
