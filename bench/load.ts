import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from './measure.ts';

const WARM_UP_SECONDS = 1;

interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the body of a POST; none = GET. */
  readonly body?: () => string;
  /** Refusals are answers too. */
  readonly takesRefusals?: boolean;
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

/** The missing bytes of an answer after its first part; null = its head is incomplete. */
function restOf(part: Buffer, takesRefusals: boolean): number | null {
  const end = part.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = part.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  const isFine = takesRefusals || /^HTTP\/1\.1 2/.test(head);
  if (!isFine || length === undefined) throw new Error(part.toString().slice(0, 500));
  return end + 4 + Number(length) - part.length;
}

/**
 * A connection that calls `answered` when it is open and after each answer. It parses only the status and length of an
 * answer: a client that costs as much as the server would measure itself. An answer that is not a 2xx fails it, unless
 * refusals are taken.
 */
function connectTo(
  origin: URL,
  takesRefusals: boolean,
  answered: () => void,
  failed: (error: Error) => void,
): Socket {
  const socket = connect({ host: origin.hostname, port: Number(origin.port), noDelay: true });
  let head: Buffer | null = null;
  let rest: number | null = null;
  socket.on('connect', answered);
  socket.on('data', (chunk: Buffer) => {
    try {
      if (rest === null) {
        head = head === null ? chunk : Buffer.concat([head, chunk]);
        rest = restOf(head, takesRefusals);
      } else {
        rest -= chunk.length;
      }
      if (rest !== 0) return;
      head = null;
      rest = null;
      answered();
    } catch (error) {
      failed(error as Error);
    }
  });
  socket.on('error', failed);
  socket.on('close', () => failed(new Error('the server closed a connection under load')));
  return socket;
}

/** Sends requests one after the other over one connection, until `next` returns none. */
async function converse(origin: URL, takesRefusals: boolean, next: () => string | null): Promise<void> {
  let socket: Socket | undefined;
  await new Promise<void>((resolve, reject) => {
    const send = () => {
      const bytes = next();
      if (bytes === null) resolve();
      else socket?.write(bytes);
    };
    socket = connectTo(origin, takesRefusals, send, reject);
  }).finally(() => socket?.destroy());
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
    return converse(url, request.takesRefusals ?? false, () => {
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

/**
 * Sends at a fixed rate, however long answers take: a request waits for a free connection only when all are busy. Returns
 * the requests per second that were answered and the median time of an answer in seconds.
 */
export async function loadAtRate(
  origin: string,
  request: Request,
  { perSecond, seconds, connections }: { perSecond: number; seconds: number; connections: number },
): Promise<{ perSecond: number; answer: number }> {
  const url = new URL(origin);
  const total = Math.round(perSecond * seconds);
  const free: ((bytes: string, at: number) => void)[] = [];
  const waiting: { bytes: string; at: number }[] = [];
  const times: number[] = [];
  const sockets: Socket[] = [];
  let begin = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      let made = 0;
      const pace = () => {
        const due = Math.min(total, Math.floor(((performance.now() - begin) / 1000) * perSecond) + 1);
        for (; made < due; made += 1) {
          const next = { bytes: bytesOf(url, request), at: performance.now() };
          const send = free.pop();
          if (send) send(next.bytes, next.at);
          else waiting.push(next);
        }
        if (made < total) setTimeout(pace, (made * 1000) / perSecond - (performance.now() - begin));
      };
      const open = () => {
        let since: number | null = null;
        const send = (bytes: string, at: number) => {
          since = at;
          socket.write(bytes);
        };
        const answered = () => {
          if (since !== null) times.push((performance.now() - since) / 1000);
          if (times.length === total) resolve();
          const next = waiting.shift();
          if (next) send(next.bytes, next.at);
          else if (free.push(send) === connections && made === 0) {
            begin = performance.now();
            pace();
          }
        };
        const socket = connectTo(url, false, answered, reject);
        sockets.push(socket);
      };
      for (let count = 0; count < connections; count += 1) open();
    });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return { perSecond: (total * 1000) / (performance.now() - begin), answer: percentile(times, 0.5) };
}
