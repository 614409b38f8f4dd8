import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { alone, count, duration, type Group, median, type Result } from './measure.ts';
import { type Bench, startBench, temporaryFolder } from './program.ts';

const GOAL_S = 0.05;
const POLL_MS = 5;
const LINES = 200_000;
const PAYMENTS = 100_000;
/** With the balances before and after them, almost as many as a document takes. */
const ENTRIES = 4900;
const NUMBERS = 100_000;
const AT_ONCE = 10;
const EVENTS = 1000;
const COMPLETED = 100_000;
const JSON_TYPE = 'application/json';

type Ask = (bench: Bench) => Promise<unknown>;

/** How long each kind of request blocks the event loop. */
export const loop: Group = {
  name: 'loop',
  area: 'The longest delay of the event loop',
  async *run({ cheapRounds }, note) {
    const file = join(temporaryFolder(), 'delay');
    const monitor = fileURLToPath(new URL('loop-monitor.mjs', import.meta.url));
    const bench = await startBench({
      NODE_OPTIONS: `--import=${monitor}`,
      LOOP_FILE: file,
    });
    const kinds = await kindsOf(bench);
    for (const [what, ask] of Object.entries(kinds)) {
      note(what);
      await ask(bench); // starts threads, and loads code that is loaded on first use
      const delays: number[] = [];
      for (let round = 0; round < cheapRounds; round += 1) {
        await longestDelay(bench, file);
        await ask(bench);
        delays.push(await longestDelay(bench, file));
      }
      yield resultOf(what, delays);
    }
    await bench.stop();
  },
};

function resultOf(what: string, delays: readonly number[]): Result {
  const figure = median(delays);
  return {
    measure: what,
    figure: duration(figure),
    ...alone,
    goal: `≤ ${duration(GOAL_S)}`,
    met: figure <= GOAL_S,
    samples: { seconds: delays },
  };
}

/** The longest delay since the last call, in seconds. */
async function longestDelay({ pid }: Bench, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(file)) await delay(POLL_MS);
  return Number(readFileSync(file, 'utf8')) / 1000;
}

/** A request whose answer may be a refusal. */
async function send(
  bench: Bench,
  method: 'POST' | 'PUT',
  path: string,
  { body, type }: { readonly body: string; readonly type: string },
): Promise<string> {
  const headers = {
    authorization: `Bearer ${bench.key}`,
    'content-type': type,
    // the digest covers the whole body; each body is a different request
    ...(type === JSON_TYPE ? { 'idempotency-key': randomUUID() } : {}),
  };
  const answer = await request(bench.url + path, { method, headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 500) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return text;
}

const post = (bench: Bench, path: string, body: string, type: string) =>
  send(bench, 'POST', path, { body, type });

const lines = (line: (index: number) => string, most: number) =>
  Array.from({ length: most }, (_, index) => line(index)).join('');

async function kindsOf(bench: Bench): Promise<Record<string, Ask>> {
  const affiliate = JSON.parse(await bench.send('POST', '/v2/affiliates', { email: 'a@example.com' })) as {
    id: number;
  };
  const entries = Array.from({ length: ENTRIES }, (_, index) => ({
    external_id: `c-${index}`,
    affiliate_id: affiliate.id,
    currency: 'usd',
    amount: 100,
  }));
  for (let at = 0; at < ENTRIES; at += 1000)
    await bench.send('POST', '/v2/affiliates/commissions/batch', {
      commissions: entries.slice(at, at + 1000),
    });
  const payout = JSON.parse(await bench.send('POST', '/v2/affiliates/payouts', {})) as {
    id: string;
    number: number;
  };

  const bad = `email\n${lines((index) => `nobody ${index}\n`, LINES)}`;
  const unknown = `external_id,affiliate_email,amount\n${lines((index) => `n-${index},x@example.com,1\n`, LINES)}`;
  const reference = `P${payout.number}-A${affiliate.id}`;
  const entry = `<Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls><TxDtls><Refs><EndToEndId>${reference}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>`;
  const camt = `<Document><BkToCstmrStmt><Stmt>${lines(() => entry, PAYMENTS)}</Stmt></BkToCstmrStmt></Document>`;
  const header = `${lines((index) => `c${index},`, LINES)}\n1\n`;
  const keys = `{${lines((index) => `"key_${index}":1,`, 80_000)}"last":1}`;
  const event = JSON.stringify({ type: 'order.created', data: { numbers: Array(NUMBERS).fill(1) } });
  const items = Array.from({ length: 40 }, (_, index) => ({
    sku: `sku-${index}`,
    price: 12.5,
    quantity: index,
  }));
  const published = Array.from({ length: EVENTS }, (_, id) => ({
    type: 'order.created',
    data: { id, items },
  }));
  const batch = JSON.stringify({ events: published });
  const numbers = `{"events":[${lines(() => `{"type":"order.created","data":{"n":[${'1e1,'.repeat(400)}1]}},`, EVENTS)}{}]}`;
  const completed = Array.from({ length: COMPLETED }, (_, index) => ({
    affiliate_id: index + 1,
    is_paid: true,
  }));
  const completion = JSON.stringify({ commissions: completed });
  const statement = `/v2/affiliates/${affiliate.id}/statement/download?format=pdf`;
  return {
    'a list of 50': ({ send }) => send('GET', '/v2/affiliates/commissions?per_page=50'),
    'a body of 80 k unknown keys': (to) => post(to, '/v2/affiliates', keys, JSON_TYPE),
    [`an event of ${count(NUMBERS)} numbers`]: (to) => post(to, '/v2/events', event, JSON_TYPE),
    [`${count(EVENTS)} events of ${count(Math.round(batch.length / EVENTS))} bytes`]: (to) =>
      post(to, '/v2/events/batch', batch, JSON_TYPE),
    [`${count(EVENTS)} events of 400 numbers with exponents`]: (to) =>
      post(to, '/v2/events/batch', numbers, JSON_TYPE),
    [`completing ${count(COMPLETED)} lines`]: (to) =>
      send(to, 'PUT', `/v2/affiliates/payouts/${payout.id}`, { body: completion, type: JSON_TYPE }),
    [`preview of ${count(LINES)} bad lines`]: (to) =>
      post(to, '/v2/imports/preview?kind=affiliates', bad, 'text/csv'),
    [`dry run of ${count(LINES)} lines of nobody`]: (to) =>
      post(to, '/v2/affiliates/commissions/import?dry_run=true', unknown, 'text/csv'),
    [`a header of ${count(LINES)} columns`]: (to) =>
      post(to, '/v2/imports/preview?kind=affiliates', header, 'text/csv'),
    [`camt.053 of ${count(PAYMENTS)} payments`]: (to) =>
      post(to, `/v2/affiliates/payouts/${payout.id}/results`, camt, 'application/xml'),
    [`PDF of ${count(ENTRIES)} entries`]: ({ drain }) => drain(statement),
    [`${AT_ONCE} PDFs at once`]: ({ drain }) =>
      Promise.all(Array.from({ length: AT_ONCE }, () => drain(statement))),
  };
}
