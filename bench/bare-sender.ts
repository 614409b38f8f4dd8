/**
 * The floor under a delivery: signs and sends, with no queue, no log and no guard. Run as a separate process with
 * BARE = {file, url, endpoints, connections}; each line of the file is a payload.
 */
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { signersOf } from '../src/webhooks/signing/schemes.ts';

interface Settings {
  readonly file: string;
  readonly url: string;
  readonly endpoints: number;
  readonly connections: number;
}

const { file, url, endpoints, connections } = JSON.parse(process.env.BARE ?? '{}') as Settings;
const payloads = readFileSync(file, 'utf8').trimEnd().split('\n');
const pool = new Pool(url, { connections, pipelining: 1 });
const [signer] = signersOf({
  signing: null,
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
}).signers;
let next = 0;

async function sendSome(): Promise<void> {
  while (next < payloads.length) {
    const number = next;
    next += 1;
    const body = payloads[number] ?? '';
    const id = `evt_${String(number).padStart(32, '0')}`;
    const timestamp = Math.floor(Date.now() / 1000);
    const answer = await pool.request({
      method: 'POST',
      path: `/e${number % endpoints}`,
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
    if (answer.statusCode !== 200) throw new Error(`the sink answered ${answer.statusCode}`);
  }
}

await Promise.all(Array.from({ length: connections }, sendSome));
await pool.close();
