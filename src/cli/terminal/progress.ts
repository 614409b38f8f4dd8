import { onInterrupt } from './interrupt.ts';
import type { Terminal } from './terminal.ts';

/** Shows progress; does nothing without a terminal. */
export interface Progress {
  update(done: number): void;
  stop(): void;
}

const TICK_MS = 500;

/** The upload: its name, and its size in bytes if known. */
interface Sent {
  readonly what: string;
  readonly bytes: number | undefined;
  /** Reads the server's current stage as text, once everything is sent; null if unknown. */
  readonly askStage: () => Promise<string | null>;
}

/** A progress bar for the bytes of a file, on standard error. If the size is unknown, it shows only bytes sent and time. */
export async function startProgress(terminal: Terminal, { what, bytes, askStage }: Sent): Promise<Progress> {
  if (!terminal.showsProgress) return { update: () => undefined, stop: () => undefined };
  const { SingleBar } = (await import('cli-progress')).default;
  const known = bytes === undefined ? '{megabytes} MB' : '{bar} {percentage}% of {megabytes} MB';
  const bar = new SingleBar({
    format: `${what} ${known} · {phase} · {duration_formatted}`,
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  });
  let done = 0;
  const isSent = () => bytes !== undefined && done >= bytes;
  let stage: string | null = null;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    // ignored, because the upload reports its own errors
    stage = await askStage().catch(() => null);
    isAsking = false;
  };
  const payload = () => ({
    megabytes: ((bytes ?? done) / 1e6).toFixed(1),
    // after the last byte the server checks and stores the file, which can take longer than sending it
    phase: isSent() ? (stage ?? 'checking and storing') : 'sending',
  });
  const release = terminal.spinner.hold();
  bar.start(bytes ?? 0, 0, payload());
  const tick = setInterval(() => {
    bar.update(done, payload());
    if (isSent() && !isAsking) void ask();
  }, TICK_MS);
  const forget = onInterrupt(() => bar.stop()); // shows the cursor again
  return {
    update(sent) {
      done = sent;
      bar.update(sent, payload());
    },
    stop() {
      clearInterval(tick);
      forget();
      bar.stop();
      release();
    },
  };
}

/** A progress bar for `total` items, on standard error. */
export async function startCounter(terminal: Terminal, what: string, total: number): Promise<Progress> {
  if (!terminal.showsProgress || total < 2) return { update: () => undefined, stop: () => undefined };
  const { SingleBar } = (await import('cli-progress')).default;
  const bar = new SingleBar({
    format: `${what} {bar} {value} of {total} · {duration_formatted}`,
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: true,
    fps: 10,
  });
  const release = terminal.spinner.hold();
  bar.start(total, 0);
  const forget = onInterrupt(() => bar.stop()); // shows the cursor again
  return {
    update: (done) => bar.update(done),
    stop() {
      forget();
      bar.stop();
      release();
    },
  };
}
