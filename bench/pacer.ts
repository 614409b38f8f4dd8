/**
 * Sends events at a fixed rate. Run as a separate process with PORT, so that no other load holds its requests up: POST
 * with a `Pace` as body sends them and answers with what `loadAtRate` returns. Each event has `"sent_at":` in
 * microseconds of the machine's monotonic clock, and the types in turn.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { loadAtRate } from './load.ts';
import { EVENT_FILLER } from './seed.ts';

export interface Pace {
  /** Where to POST. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly types: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

const CONNECTIONS = 64;

const nowMicros = () => Number(process.hrtime.bigint() / 1000n);

async function send({ origin, path, headers, types, perSecond, seconds }: Pace) {
  let number = 0;
  const body = () => {
    number += 1;
    return `{"type":"${types[number % types.length]}","data":{"sent_at":${nowMicros()},${EVENT_FILLER}}}`;
  };
  return loadAtRate(origin, { path, headers, body }, { perSecond, seconds, connections: CONNECTIONS });
}

createServer(async (request, answer) => {
  const asked = await text(request);
  if (asked === '') return answer.end();
  try {
    answer.end(JSON.stringify(await send(JSON.parse(asked))));
  } catch (error) {
    answer.writeHead(500).end(String(error));
  }
}).listen(Number(process.env.PORT), '127.0.0.1');
