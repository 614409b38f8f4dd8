import { onInterrupt } from './interrupt.ts';
import type { Terminal } from './terminal.ts';

/** Shows how far something is; does nothing where nobody would see it. */
export interface Progress {
  update(done: number): void;
  stop(): void;
}

const TICK_MS = 500;

/** What is sent: its name, and its bytes where they are known. */
interface Sent {
  readonly what: string;
  readonly bytes: number | undefined;
  /** Asks the server what it does with it, in words; null when it does not say. Is asked once all is sent. */
  readonly askStage: () => Promise<string | null>;
}

/** A progress bar over the bytes of a file on standard error; of unknown bytes only those sent and the time are shown. */
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
    // nobody is told why: what is sent has its own answer
    stage = await askStage().catch(() => null);
    isAsking = false;
  };
  const payload = () => ({
    megabytes: ((bytes ?? done) / 1e6).toFixed(1),
    // The server checks and stores the file after its last byte, which can take longer than sending it.
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

/** A progress bar over `total` things on standard error. */
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
