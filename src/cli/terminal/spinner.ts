import { onInterrupt } from './interrupt.ts';

/** A sign of life, on one line of a terminal, while something takes longer than a second. */
export interface Spinner {
  /** Waits with the reader until this is over; `what` says for what, instead of for the server. */
  watch(over: Promise<void>, what?: () => string): void;
  /** Takes the line away for something else to be written; it comes back when there is still something to wait for. */
  clear(): void;
  /** Keeps the line free for something else that shows how far it is, until the function is called. */
  hold(): () => void;
}

/** Where nobody would see it. */
export const NO_SPINNER: Spinner = {
  watch: () => undefined,
  clear: () => undefined,
  hold: () => () => undefined,
};

const SHOWN_AFTER_MS = 1000;
const TICK_MS = 100;
const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const WAITING = () => 'waiting for the server';
const ERASE_LINE = '\r\u001B[K';

/** A spinner that writes with `write`. */
export function createSpinner(write: (text: string) => void): Spinner {
  let waiting = 0;
  let held = 0;
  let ticks = 0;
  let shown = false;
  let tick: NodeJS.Timeout | undefined;
  let forget: () => void = () => undefined;
  let told = WAITING;

  const clear = () => {
    if (shown) write(ERASE_LINE);
    shown = false;
  };

  function show(): void {
    ticks += 1;
    const elapsedMs = ticks * TICK_MS;
    if (held > 0 || elapsedMs < SHOWN_AFTER_MS) return;
    const frame = FRAMES[ticks % FRAMES.length];
    write(`${ERASE_LINE}${frame} ${told()}, ${Math.floor(elapsedMs / 1000)} s`);
    shown = true;
  }

  function begin(): void {
    waiting += 1;
    if (waiting > 1) return;
    ticks = 0;
    tick = setInterval(show, TICK_MS).unref();
    forget = onInterrupt(clear);
  }

  function end(): void {
    waiting -= 1;
    if (waiting > 0) return;
    clearInterval(tick);
    forget();
    clear();
  }

  return {
    watch(over, what) {
      begin();
      if (what === undefined) return void over.then(end);
      told = what;
      void over.then(() => {
        told = WAITING;
        end();
      });
    },
    clear,
    hold() {
      held += 1;
      clear();
      return () => {
        held -= 1;
      };
    },
  };
}
