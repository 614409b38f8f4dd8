import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PATIENCE_MS } from './patience.ts';

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 50;

/**
 * Asks until the answer is truthy, less and less often, so that waiting costs the other processes little. Throws the
 * last error, or that the deadline has passed.
 */
export async function until<Result>(
  what: string,
  ask: () => Result | Promise<Result>,
  deadlineMs = PATIENCE_MS,
): Promise<NonNullable<Result>> {
  const end = performance.now() + deadlineMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms for: ${what}`);
    await delay(pauseMs);
  }
}

/** A client that controls each byte of its request and sees each byte of the response. */
export interface Wire {
  readonly socket: Socket;
  /** Sends text unchanged. */
  send(text: string): void;
  /** Sends one chunk of a body in chunked encoding. */
  chunk(text: string): void;
  /** Everything received so far. */
  received(): string;
  /** Waits for a response that ends the connection; never rejects. */
  closed(): Promise<{ received: string; broken: boolean }>;
  /** Stops reading and writing at once, as a machine that is switched off. */
  vanish(): void;
}

/** Opens a connection to the server and sends the head of a request. */
export async function openWire(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  let broken = false;
  let ended = false;
  socket.on('data', (bytes) => {
    received += bytes.toString('latin1');
  });
  socket.on('error', () => {
    broken = true;
  });
  socket.on('end', () => {
    ended = true;
  });
  await once(socket, 'connect');
  const lines = Object.entries({ host: `${hostname}:${port}`, connection: 'close', ...headers });
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`);
  return {
    socket,
    send: (text) => void socket.write(text),
    chunk: (text) => void socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`),
    received: () => received,
    async closed() {
      // `once` of node:events would reject with the earlier error
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      return { received, broken: broken || !ended };
    },
    vanish: () => void socket.resetAndDestroy(),
  };
}

/** Whether the bytes are a complete response: its length says so, or the last chunk has arrived. */
export function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const head = answer.slice(0, end).toLowerCase();
  const body = answer.slice(end + 4);
  const length = /content-length: (\d+)/.exec(head)?.[1];
  return length === undefined ? body.endsWith('\r\n0\r\n\r\n') : body.length >= Number(length);
}
