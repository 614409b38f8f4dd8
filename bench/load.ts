import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';
import { percentile } from './measure.ts';

const WARM_UP_SECONDS = 1;

interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the body of a POST; none = GET. */
  readonly body?: () => string;
}

/** Sends one request and reads its answer. Throws when it is no 2xx. */
async function exchange(pool: Pool, { path, headers, body }: Request): Promise<void> {
  const method = body ? 'POST' : 'GET';
  const answer = await pool.request({ method, path, headers, body: body?.() ?? null });
  if (answer.statusCode >= 300) {
    throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`);
  }
  await answer.body.dump({ limit: 1 << 24 });
}

/** Requests per second at a fixed concurrency for a bounded time, after a warm-up. */
export async function load(
  origin: string,
  request: Request,
  burst: { connections: number; seconds: number },
): Promise<number> {
  const pool = new Pool(origin, { connections: burst.connections, pipelining: 1 });
  let counting = false;
  let answered = 0;
  let open = true;
  const client = async () => {
    while (open) {
      await exchange(pool, request);
      if (counting) answered += 1;
    }
  };
  const clients = Promise.all(Array.from({ length: burst.connections }, client));
  await Promise.race([delay(WARM_UP_SECONDS * 1000), clients]);
  counting = true;
  const begin = process.hrtime.bigint();
  await Promise.race([delay(burst.seconds * 1000), clients]);
  const took = Number(process.hrtime.bigint() - begin) / 1e9;
  open = false;
  await clients;
  await pool.close();
  return answered / took;
}

/**
 * Sends at a fixed rate, whatever the answers take. Returns the requests per second that were really answered and
 * the median time of an answer in seconds.
 */
export async function loadAtRate(
  origin: string,
  request: Request,
  { perSecond, seconds, connections }: { perSecond: number; seconds: number; connections: number },
): Promise<{ perSecond: number; answer: number }> {
  const pool = new Pool(origin, { connections, pipelining: 1 });
  const total = Math.round(perSecond * seconds);
  const answers: Promise<void>[] = [];
  const times: number[] = [];
  const one = async () => {
    const sent = performance.now();
    await exchange(pool, request);
    times.push((performance.now() - sent) / 1000);
  };
  const begin = performance.now();
  while (answers.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - begin) / 1000) * perSecond));
    while (answers.length < due) answers.push(one());
    await delay(1);
  }
  await Promise.all(answers);
  const took = (performance.now() - begin) / 1000;
  await pool.close();
  return { perSecond: total / took, answer: percentile(times, 0.5) };
}
