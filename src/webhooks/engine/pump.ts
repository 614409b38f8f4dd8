import type { Logger } from 'pino';

/** Searches for work repeatedly, one search at a time. */
export interface Pump {
  /** Searches now. If a search is running, searches again after it. */
  wake(): void;
  /** Whether a search is running. */
  isLooking(): boolean;
  /** Starts no more searches. Resolves when the last one is over. */
  close(): Promise<void>;
}

const AFTER_ERROR_MS = 1000;

/** What a running search can ask its pump. */
export interface PumpControl {
  /** Called before each read: work announced later needs another read. */
  begin(): void;
  /** Whether the pump is being closed. */
  isOver(): boolean;
}

/**
 * Creates a pump. `look` returns the milliseconds until the next useful search. A failed search is repeated after a
 * second, even if the pump is woken earlier.
 */
export function createPump({ log, look }: { log: Logger; look(pump: PumpControl): Promise<number> }): Pump {
  let looking: Promise<void> | undefined;
  let isWanted = false;
  let isClosing = false;
  let timer: NodeJS.Timeout | undefined;
  const progress: PumpControl = {
    begin() {
      isWanted = false;
    },
    isOver: () => isClosing,
  };

  function wake(): void {
    isWanted = looking !== undefined;
    if (isClosing || isWanted) return;
    clearTimeout(timer);
    looking = lookOnce().then((pauseMs) => {
      looking = undefined;
      if (isClosing) return;
      if (isWanted && pauseMs !== AFTER_ERROR_MS) wake();
      else timer = setTimeout(wake, pauseMs);
    });
  }

  async function lookOnce(): Promise<number> {
    try {
      return await look(progress);
    } catch (error) {
      if (!isClosing) log.warn({ err: error }, 'looking for deliveries failed; it will be retried');
      return AFTER_ERROR_MS;
    }
  }

  return {
    wake,
    isLooking: () => looking !== undefined,
    async close() {
      isClosing = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
