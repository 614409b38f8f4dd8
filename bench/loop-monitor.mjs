// Loaded before a server that `loop.ts` measures: at each SIGUSR2 it writes the longest block of the event loop since the
// previous one, in milliseconds, to the file LOOP_FILE. Threads load it too, and have their own loops.
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  process.on('SIGUSR2', () => {
    const file = process.env.LOOP_FILE ?? '';
    writeFileSync(`${file}.new`, String(delay.max / 1e6));
    renameSync(`${file}.new`, file);
    delay.reset();
  });
}
