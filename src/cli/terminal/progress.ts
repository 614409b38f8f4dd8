import { onInterrupt } from './interrupt.ts';
import type { Terminal } from './terminal.ts';

/** Shows how far something is; does nothing where nobody would see it. */
export interface Progress {
  update(done: number): void;
  stop(): void;
}

const TICK_MS = 500;

/** A progress bar over `bytes` on standard error. `bytes` undefined: only the bytes sent and the time are shown. */
export async function startProgress(
  terminal: Terminal,
  what: string,
  bytes: number | undefined,
): Promise<Progress> {
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
  const payload = () => ({
    megabytes: ((bytes ?? done) / 1e6).toFixed(1),
    // The server checks and stores the file after its last byte, which can take longer than sending it.
    phase: bytes !== undefined && done >= bytes ? 'checking and storing' : 'sending',
  });
  const release = terminal.spinner.hold();
  bar.start(bytes ?? 0, 0, payload());
  const tick = setInterval(() => bar.update(done, payload()), TICK_MS);
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
