import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import { probeReading, probeWriting } from '../db/settings.ts';
import { inTime } from '../kernel/in-time.ts';
import { CHECKS, type Problem, problemOf } from './checks.ts';
import type { Platform } from './platform.ts';
import { shared } from './shared.ts';

const PATIENCE_MS = 5000;
/** Less, because a load balancer must still be answered that cell 0 is fine. */
const CELL_PATIENCE_MS = 1000;
/** While nothing is wrong, the probes of several load balancers share one check. */
const FRESH_MS = 500;

/** A cell other than 0 that cannot be used. */
interface UnavailableCell {
  readonly cell: number;
  readonly problem: string;
}

/** Reports whether a server is ready: null, or the first problem of cell 0. Never rejects. */
export function readinessOf(platform: Pick<Platform, 'cells' | 'db' | 'log' | 'embedded' | 'config'>): {
  problem(): Promise<Problem | null>;
  /** The cells other than 0 that this server cannot use. Never rejects. */
  unavailableCells(): Promise<readonly UnavailableCell[]>;
  /** Marks the server as stopping. */
  stop(): void;
  /** Marks this process as stopping, while others of the server go on. */
  letGo(): void;
  /** Whether the server or this process is stopping. */
  isStopping(): boolean;
} {
  const { cells, db, log, embedded, config } = platform;
  const subject = {
    db,
    folder: embedded ? config.dataDir : null,
    timeoutMs: config.delivery.timeoutMs,
    tryWriting: () => db.transaction(probeWriting),
  };
  let stopping = false;
  let leaving = false;
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

  const lookOthers = shared(FRESH_MS, () => unavailableIn(cells));

  return {
    unavailableCells: () => (cells.list().length === 1 ? Promise.resolve([]) : lookOthers()),
    async problem() {
      if (stopping) return { reason: 'stopping', message: 'the server is about to stop' };
      if (performance.now() - wellAt < FRESH_MS) return null;
      looking ??= look().then((problem) => {
        if (problem === null) wellAt = performance.now();
        looking = undefined;
        return problem;
      });
      return inTime(PATIENCE_MS, looking, () => ({
        reason: 'database',
        message: `PostgreSQL does not answer within ${PATIENCE_MS / 1000} s`,
      }));
    },
    stop() {
      stopping = true;
    },
    letGo() {
      leaving = true;
    },
    isStopping: () => stopping || leaving,
  };
}

/** Asks each cell but 0. */
async function unavailableIn(cells: Cells): Promise<readonly UnavailableCell[]> {
  const others = cells.list().filter(({ number, isServed }) => number !== 0 && isServed);
  const found = await Promise.all(
    others.map(async ({ number, db, problem }) => {
      const why = db === null ? (problem ?? 'is not open yet') : await whyDown(db);
      return why === null ? [] : [{ cell: number, problem: why }];
    }),
  );
  return found.flat();
}

function whyDown(db: Database): Promise<string | null> {
  const asked = probeReading(db.reader).then(
    () => null,
    () => 'cannot be reached',
  );
  return inTime(CELL_PATIENCE_MS, asked, () => `does not answer within ${CELL_PATIENCE_MS / 1000} s`);
}
