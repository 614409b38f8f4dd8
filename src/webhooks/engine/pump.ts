import type { Logger } from 'pino';

/** Looks for work again and again, one look at a time. */
export interface Pump {
  /** Looks now; if a look is in progress, once more after it. */
  wake(): void;
  /** A look is in progress. */
  isLooking(): boolean;
  /** Starts no more looks; resolves when the last one is over. */
  close(): Promise<void>;
}

const AFTER_ERROR_MS = 1000;

/** What a running look can ask of its pump. */
export interface PumpControl {
  /** Called before each read: work that is announced later needs another read. */
  begin(): void;
  /** The pump is being closed. */
  isOver(): boolean;
}

/**
 * Creates a pump. `look` returns the milliseconds until it is worth looking again. A look that fails is repeated
 * after a second, whoever asks.
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
      if (!isClosing) log.warn({ err: error }, 'looking for deliveries failed; it will be tried again');
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
