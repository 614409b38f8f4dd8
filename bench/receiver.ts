import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { startScript } from './program.ts';
import type { Report } from './sink.ts';

const SINK = fileURLToPath(new URL('sink.ts', import.meta.url));
const POLL_MS = 20;
const STALLED_MS = 30_000;

/** The sink in a separate process. */
export interface Receiver {
  readonly url: string;
  readonly pid: number;
  /** Deliveries since the last call. */
  reset(): Promise<Report>;
  report(): Promise<Report>;
  /** Waits for that number of deliveries. Throws when none arrives for 30 s. */
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
        const now = await report();
        if (now.count >= count) return now;
        if (now.count !== seen) since = Date.now();
        seen = now.count;
        if (Date.now() - since > STALLED_MS) throw new Error(`${seen} of ${count} deliveries arrived`);
      }
    },
  };
}

/** Environment of a program that may send to the receiver. */
export const LOOPBACK = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8' };
