import { BODY_CAP, type Heard, type ResponseHeaders } from './outcome.ts';

// Limits 1xx responses before the response: each costs as much to read as a response.
const INTERIM_CAP = 16;

/** The response as far as it was read. */
export interface Received extends Heard {
  interim: number;
  status: number | null;
  headers: ResponseHeaders | null;
  readonly chunks: Buffer[];
  size: number;
  isTruncated: boolean;
}

/** Nothing has arrived yet; `startedAt` is now. */
export function nothingReceived(): Received {
  return {
    startedAt: performance.now(),
    interim: 0,
    status: null,
    headers: null,
    chunks: [],
    size: 0,
    isTruncated: false,
  };
}

/** Receives the head of a response, or of an interim one. Returns false after too many interim responses. */
export function takeHead(received: Received, status: number, headers: ResponseHeaders): boolean {
  if (status < 200) {
    received.interim += 1;
    return received.interim <= INTERIM_CAP;
  }
  received.status = status;
  received.headers = headers;
  return true;
}

/** Receives a piece of the body. Bytes beyond the limit are read but not kept. */
export function takeBody(received: Received, chunk: Buffer): void {
  const room = BODY_CAP - received.size;
  if (chunk.length > room) received.isTruncated = true;
  if (room === 0) return;
  received.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
  received.size += Math.min(chunk.length, room);
}
