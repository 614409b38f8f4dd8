import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from 'sql-template-tag';
import sql from 'sql-template-tag';
import { request } from 'undici';
import { CODINGS } from '../src/contract/codings.ts';
import { parseList } from '../src/contract/lists.ts';
import type { Reader } from '../src/db/database.ts';
import { readPayout } from '../src/money/ledger/payouts.ts';
import { listPayouts, payoutList } from '../src/money/payouts/lists.ts';
import { load } from './load.ts';
import { type Group, interleaved, median, noGoal } from './measure.ts';
import { type Bench, startBench, startScript } from './program.ts';
import { seedAffiliates, seedCommissions, seedPayouts, settle, sumPayouts } from './seed.ts';

const GOAL = 0.8;
const AFFILIATES = 20;
const COMMISSIONS = 10_000;
const PAYOUTS = 60;
const CONNECTIONS = 16;
const BARE = fileURLToPath(new URL('bare.ts', import.meta.url));
const LIST = '/v2/affiliates/payouts';

interface Answer {
  readonly data?: unknown;
  readonly pagination?: { readonly total: number };
}

/** What must be equal in both responses: a list's rows and total, or the record. */
const dataOf = (answer: Answer) => (answer.data ? [answer.data, answer.pagination?.total] : answer);

/** The statement a function of the program would run, captured by a reader that only records it. */
async function statementOf(
  ask: (db: Reader) => Promise<unknown>,
): Promise<{ text: string; values: unknown[] }> {
  let heard: Sql | undefined;
  const listening = new Error('heard');
  const db: Reader = {
    cell: 0,
    rows: async (query) => {
      heard = query;
      throw listening;
    },
  };
  await ask(db).catch((error: unknown) => {
    if (error !== listening) throw error;
  });
  if (!heard) throw new Error('no statement was run');
  const values = heard.values.map((value) => (typeof value === 'bigint' ? String(value) : value));
  return { text: heard.text, values };
}

async function startBare(bench: Bench, routes: object): Promise<string> {
  const env = { BARE: JSON.stringify({ connection: bench.connection, routes }) };
  return (await startScript(BARE, { env })).url;
}

/** GET one payout and a list of 50 against a bare handler with the same statement. */
export const requests: Group = {
  name: 'requests',
  area: 'Requests',
  async *run({ dearRounds, loadSeconds }, note) {
    const bench = await startBench();
    await seedAffiliates(bench.pg, bench.account, AFFILIATES);
    await seedPayouts(bench.pg, bench.account, PAYOUTS);
    await seedCommissions(bench.pg, {
      account: bench.account,
      count: COMMISSIONS,
      affiliates: AFFILIATES,
      payout: `p.ids[1 + g % ${PAYOUTS}]`,
    });
    await sumPayouts(bench.pg, bench.account);
    await settle(bench.pg);
    const { rows } = await bench.pg.query<{ id: string; uuid: string }>(
      `select public_id('po', id) as id, id as uuid from payouts where number = 7`,
    );
    const { id = '', uuid = '' } = rows[0] ?? {};
    const query = parseList(payoutList, new Map([['per_page', '50']]), {
      account: bench.account,
      zone: 'UTC',
      operation: 'listPayouts',
    });
    const bare = await startBare(bench, {
      '/one': await statementOf((db) =>
        readPayout(db, bench.account, { condition: sql`p.id = ${uuid}`, name: 'by_id' }),
      ),
      '/list': await statementOf((db) => listPayouts(db, bench.account, query)),
    });
    const measures = [
      { measure: 'GET one payout', own: `${LIST}/${id}`, floor: '/one' },
      { measure: 'list 50 payouts', own: `${LIST}?per_page=50`, floor: '/list' },
    ];
    for (const { own, floor } of measures) {
      const ours = JSON.parse(await bench.send('GET', own)) as Answer;
      const { body } = await request(bare + floor);
      const same = (await body.json()) as Answer;
      if (!isDeepStrictEqual(dataOf(ours), dataOf(same)))
        throw new Error(`${own} and the bare handler differ`);
    }
    const burst = { connections: CONNECTIONS, seconds: loadSeconds };
    const authorized = { authorization: `Bearer ${bench.key}` };
    for (const { measure, own, floor } of measures) {
      note(measure);
      const samples = await interleaved(dearRounds + 2, {
        own: () => load(bench.url, { path: own, headers: authorized }, burst),
        bare: () => load(bare, { path: floor, headers: {} }, burst),
      });
      const ratio = median(samples.own) / median(samples.bare);
      yield {
        measure,
        figure: `${median(samples.own).toFixed(0)} req/s`,
        against: `bare Fastify, same SQL ${median(samples.bare).toFixed(0)} req/s`,
        ratio,
        goal: `≥ ${GOAL} ×`,
        met: ratio >= GOAL,
        samples,
      };
    }
    for (const coding of CODINGS) {
      note(`the list in ${coding}`);
      const path = `${LIST}?per_page=50`;
      const samples = await interleaved(dearRounds + 2, {
        compressed: () =>
          load(bench.url, { path, headers: { ...authorized, 'accept-encoding': coding } }, burst),
        plain: () => load(bench.url, { path, headers: authorized }, burst),
      });
      yield {
        measure: `list 50 payouts, sent in ${coding}`,
        figure: `${median(samples.compressed).toFixed(0)} req/s`,
        against: `as it is ${median(samples.plain).toFixed(0)} req/s`,
        ratio: median(samples.compressed) / median(samples.plain),
        ...noGoal,
        samples,
      };
    }
    await bench.stop();
  },
};
