import { connect, type Socket } from 'node:net';
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

function bytesOf({ host }: URL, { path, headers, body }: Request): string {
  const text = body?.() ?? '';
  const lines = Object.entries({
    host,
    ...headers,
    ...(body ? { 'content-length': Buffer.byteLength(text) } : {}),
  });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${body ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${head}\r\n${text}`;
}

/** What is left of an answer, in bytes, after the part that came first: null = its head is not whole yet. */
function restOf(part: Buffer): number | null {
  const end = part.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = part.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (!/^HTTP\/1\.1 2/.test(head) || length === undefined) throw new Error(part.toString().slice(0, 500));
  return end + 4 + Number(length) - part.length;
}

/**
 * Sends requests one after the other over one connection, until `next` returns none. It parses only the status and
 * length of a response: a client that costs as much as the server would measure itself. Throws when a response is
 * not a 2xx.
 */
async function converse(origin: URL, next: () => string | null): Promise<void> {
  const socket: Socket = connect({ host: origin.hostname, port: Number(origin.port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    let head: Buffer | null = null;
    let rest: number | null = null;
    const send = () => {
      const bytes = next();
      head = null;
      rest = null;
      if (bytes === null) resolve();
      else socket.write(bytes);
    };
    socket.on('connect', send);
    socket.on('data', (chunk: Buffer) => {
      try {
        if (rest === null) {
          head = head === null ? chunk : Buffer.concat([head, chunk]);
          rest = restOf(head);
        } else {
          rest -= chunk.length;
        }
        if (rest === 0) send();
      } catch (error) {
        reject(error);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection under load')));
  }).finally(() => socket.destroy());
}

/** Requests per second at a fixed concurrency for a bounded time, after a warm-up. */
export async function load(
  origin: string,
  request: Request,
  burst: { connections: number; seconds: number },
): Promise<number> {
  const url = new URL(origin);
  let counting = false;
  let answered = 0;
  let open = true;
  const client = () => {
    let isFirst = true;
    return converse(url, () => {
      if (counting && !isFirst) answered += 1;
      isFirst = false;
      return open ? bytesOf(url, request) : null;
    });
  };
  const clients = Promise.all(Array.from({ length: burst.connections }, client));
  await Promise.race([delay(WARM_UP_SECONDS * 1000), clients]);
  counting = true;
  const begin = process.hrtime.bigint();
  await Promise.race([delay(burst.seconds * 1000), clients]);
  const took = Number(process.hrtime.bigint() - begin) / 1e9;
  counting = false;
  open = false;
  await clients;
  return answered / took;
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

/**
 * Sends at a fixed rate, however long responses take. Returns the requests per second that were answered and the
 * median time of a response in seconds.
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
