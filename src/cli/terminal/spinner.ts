import { onInterrupt } from './interrupt.ts';

/** A spinner on one line of a terminal, shown while something takes longer than a second. */
export interface Spinner {
  /** Spins until `over` settles; `what` is the label, by default waiting for the server. */
  watch(over: Promise<void>, what?: () => string): void;
  /** Clears the line for other output. The spinner returns if something is still pending. */
  clear(): void;
  /** Keeps the line free for another progress display, until the returned function is called. */
  hold(): () => void;
}

/** The spinner without a terminal. */
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
  let label = WAITING;

  const clear = () => {
    if (shown) write(ERASE_LINE);
    shown = false;
  };

  function show(): void {
    ticks += 1;
    const elapsedMs = ticks * TICK_MS;
    if (held > 0 || elapsedMs < SHOWN_AFTER_MS) return;
    const frame = FRAMES[ticks % FRAMES.length];
    write(`${ERASE_LINE}${frame} ${label()}, ${Math.floor(elapsedMs / 1000)} s`);
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
      label = what;
      void over.then(() => {
        label = WAITING;
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
