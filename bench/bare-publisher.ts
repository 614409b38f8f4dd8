/**
 * The floor under publishing and delivering at once: takes a POST, inserts its body as one row, answers, signs and sends.
 * No queue, no log, no retry. Run as a separate process with PORT and BARE = {connection, url, connections}.
 */
import { createServer } from 'node:http';
import pg from 'pg';
import { Pool } from 'undici';
import { signersOf } from '../src/webhooks/signing/schemes.ts';

interface Settings {
  readonly connection: pg.PoolConfig;
  readonly url: string;
  readonly connections: number;
}

const { connection, url, connections } = JSON.parse(process.env.BARE ?? '{}') as Settings;
const database = new pg.Pool({ ...connection, max: 10 });
const receiver = new Pool(url, { connections, pipelining: 1 });
const [signer] = signersOf({
  signing: null,
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
}).signers;
const insert = { name: 'insert', text: 'insert into bare_events (payload) values ($1)' };
let next = 0;

async function send(body: string): Promise<void> {
  next += 1;
  const id = `evt_${String(next).padStart(32, '0')}`;
  const timestamp = Math.floor(Date.now() / 1000);
  const answer = await receiver.request({
    method: 'POST',
    path: '/one0',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Payhook/2.0 (webhooks)',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signer!.valueOf({ id, timestamp, body, url }),
    },
    body,
  });
  await answer.body.dump();
}

await database.query(
  'create table if not exists bare_events (id bigserial primary key, payload text not null)',
);
const server = createServer((request, reply) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    if (request.method === 'GET') {
      reply.setHeader('content-length', 2).end('{}');
      return;
    }
    database.query({ ...insert, values: [body] }).then(
      () => {
        reply.writeHead(202, { 'content-type': 'application/json', 'content-length': 2 }).end('{}');
        send(body).catch(() => process.exit(1));
      },
      () => process.exit(1),
    );
  });
});
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
