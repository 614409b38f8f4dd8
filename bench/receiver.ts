import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { startScript } from './program.ts';
import type { Report } from './sink.ts';

const SINK = fileURLToPath(new URL('sink.ts', import.meta.url));
const POLL_MS = 20;
const STALLED_MS = 30_000;

/** The sink as a process of its own. */
export interface Receiver {
  readonly url: string;
  readonly pid: number;
  /** What arrived since the last call. */
  reset(): Promise<Report>;
  report(): Promise<Report>;
  /** Waits for so many deliveries. Throws when none comes for 30 s. */
  until(count: number): Promise<Report>;
}

export async function startReceiver(): Promise<Receiver> {
  const { url, pid } = await startScript(SINK, { ready: '/report' });
  const ask = async (path: string) => (await (await request(url + path)).body.json()) as Report;
  const report = () => ask('/report');
  return {
    url,
    pid,
    report,
    reset: () => ask('/reset'),
    async until(count) {
      let seen = -1;
      for (let since = Date.now(); ; await delay(POLL_MS)) {
        const told = await report();
        if (told.count >= count) return told;
        if (told.count !== seen) since = Date.now();
        seen = told.count;
        if (Date.now() - since > STALLED_MS) throw new Error(`${seen} deliveries came of ${count}`);
      }
    },
  };
}

/** Environment of a program that may send to the receiver. */
export const LOOPBACK = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8' };
