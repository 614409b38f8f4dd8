/**
 * A receiver of webhooks that costs little: it answers 200 to every POST and counts the events in it. Run as a separate
 * process with PORT. It records the latency of bodies with `"sent_at":` (microseconds of the machine's monotonic clock) by
 * path. A path that begins with /hang is never answered, one with /slow after 250 ms. GET /report returns the report,
 * GET /reset returns and clears it.
 */
import { createServer, type Socket } from 'node:net';

export interface Report {
  /** Of events; a POST has one unless it is a batch. */
  readonly count: number;
  /** How many of them came in the first POST. */
  readonly opening: number;
  /** When the first and the last POST arrived, in microseconds. */
  readonly first: number;
  readonly last: number;
  /** Microseconds from `sent_at` to the first byte here. */
  readonly waits: Readonly<Record<string, readonly number[]>>;
}

const answerOf = (body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const OK = Buffer.from(answerOf('ok'));
const SLOW_MS = 250;
const SENT_AT = '"sent_at":';

let count = 0;
let opening = 0;
let first = 0;
let last = 0;
let waits: Record<string, number[]> = {};

function report(): string {
  const result: Report = { count, opening, first, last, waits };
  return JSON.stringify(result);
}

function forget(): void {
  count = 0;
  waits = {};
}

function note(path: string, body: Buffer, { at, events }: { at: number; events: number }): void {
  if (count === 0) [first, opening] = [at, events];
  last = at;
  count += events;
  const place = body.indexOf(SENT_AT);
  if (place < 0) return;
  const sent = Number.parseInt(body.toString('latin1', place + SENT_AT.length, place + 40), 10);
  waits[path] ??= [];
  waits[path].push(at - sent);
}

/** One request: its length in bytes, or null when it is not whole yet. */
function take(socket: Socket, bytes: Buffer, at: number): number | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const begin = end + 4;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (bytes.length < begin + length) return null;
  const [method, path = ''] = head.split(' ', 2);
  if (method === 'GET') {
    socket.write(answerOf(report()));
    if (path === '/reset') forget();
  } else {
    const events = Number(/\r\nwebhook-batch-size: (\d+)/i.exec(head)?.[1] ?? 1);
    note(path, bytes.subarray(begin, begin + length), { at, events });
    if (path.startsWith('/slow')) setTimeout(() => socket.write(OK), SLOW_MS);
    else if (!path.startsWith('/hang')) socket.write(OK);
  }
  return begin + length;
}

createServer({ noDelay: true }, (socket) => {
  let rest: Buffer | null = null;
  let at = 0;
  socket.on('data', (chunk: Buffer) => {
    if (rest === null) at = Number(process.hrtime.bigint() / 1000n);
    let bytes = rest === null ? chunk : Buffer.concat([rest, chunk]);
    rest = null;
    while (bytes.length > 0) {
      const taken = take(socket, bytes, at);
      if (taken === null) {
        rest = bytes;
        return;
      }
      bytes = bytes.subarray(taken);
    }
  });
  socket.on('error', () => undefined);
}).listen(Number(process.env.PORT), '127.0.0.1');
