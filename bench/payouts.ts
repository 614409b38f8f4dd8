import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import copyStreams from 'pg-copy-streams';
import type { PayoutId } from '../src/kernel/ids.ts';
import { commissionsCopy } from '../src/money/payouts/csv.ts';
import {
  count,
  duration,
  type Group,
  interleaved,
  median,
  megabytes,
  type Result,
  type Sizes,
  seconds,
} from './measure.ts';
import { type Bench, residentBytes, startBench } from './program.ts';
import { emptyBooks, seedAccount, seedAffiliates, seedCommissions, settle } from './seed.ts';

const PATH = '/v2/affiliates/payouts';
const SMALL = 10_000;
const CREATE_RATIO = 1.3;
const CREATE_SECONDS = 25;
const SMALL_SECONDS = 0.5;
const COMPLETE_RATIO = 2;
const CSV_RATIO = 0.8;
const CSV_MEMORY = 50 * 2 ** 20;
const SAMPLE_MS = 20;

/** A fresh table with `total` unpaid commissions. */
async function freshBooks(bench: Bench, total: number, affiliates: number): Promise<void> {
  await emptyBooks(bench.pg);
  await seedCommissions(bench.pg, { account: bench.account, count: total, affiliates });
  await settle(bench.pg);
}

/** The floor of a create: the rows get their payout, but nothing is decided, summed or published. */
async function bareUpdate(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ id: string }>(
    `insert into payouts (account_id, number, as_of, created_by) values ($1, 1, now(), 'bench') returning id`,
    [bench.account],
  );
  return seconds(() =>
    bench.pg.query('update commissions set payout_id = $1 where account_id = $2 and payout_id is null', [
      rows[0]?.id,
      bench.account,
    ]),
  );
}

/** Seconds of a create, which must take that many commissions. */
async function createPayout(bench: Bench, expected: number): Promise<number> {
  let answer = '';
  const time = await seconds(async () => {
    answer = await bench.send('POST', PATH, {});
  });
  const { commission_count: taken } = JSON.parse(answer) as { commission_count: number };
  if (taken !== expected) throw new Error(`the payout has ${taken} commissions of ${expected}`);
  return time;
}

interface Current {
  readonly id: string;
  readonly uuid: PayoutId;
}

async function current(bench: Bench, account: string): Promise<Current> {
  const { rows } = await bench.pg.query<Current>(
    `select public_id('po', id) as id, id as uuid from payouts where account_id = $1 order by id desc limit 1`,
    [account],
  );
  return rows[0] as Current;
}

async function* create(
  bench: Bench,
  { commissions, affiliates, dearRounds, cheapRounds }: Sizes,
): AsyncGenerator<Result> {
  await freshBooks(bench, SMALL, Math.min(affiliates, 100));
  const small: number[] = [];
  for (let round = 0; round < cheapRounds; round += 1) {
    small.push(await createPayout(bench, SMALL));
    await bench.send('DELETE', `${PATH}/${(await current(bench, bench.account)).id}`);
  }
  yield {
    measure: `create a payout of ${count(SMALL)}`,
    figure: duration(median(small)),
    against: '–',
    ratio: null,
    goal: `< ${SMALL_SECONDS} s`,
    met: median(small) < SMALL_SECONDS,
    samples: { seconds: small },
  };
  const samples = await interleaved(dearRounds, {
    async bare() {
      await freshBooks(bench, commissions, affiliates);
      return bareUpdate(bench);
    },
    async create() {
      await freshBooks(bench, commissions, affiliates);
      return createPayout(bench, commissions);
    },
  });
  const [own, bare] = [median(samples.create), median(samples.bare)];
  yield {
    measure: `create a payout of ${count(commissions)}`,
    figure: duration(own),
    against: `bare UPDATE ${duration(bare)}`,
    ratio: own / bare,
    goal: `≤ ${CREATE_RATIO} ×, ≤ ${CREATE_SECONDS} s`,
    met: own / bare <= CREATE_RATIO && own <= CREATE_SECONDS,
    samples,
  };
}

async function* download(bench: Bench, { commissions, dearRounds }: Sizes): AsyncGenerator<Result> {
  const payout = await current(bench, bench.account);
  const path = `${PATH}/${payout.id}/download`;
  const statement = commissionsCopy(bench.account, payout.uuid);
  const growth: number[] = [];
  const samples = await interleaved(dearRounds + 1, {
    copy: () =>
      seconds(() =>
        pipeline(
          bench.pg.query(copyStreams.to(statement)),
          new Writable({ write: (_c, _e, done) => done() }),
        ),
      ),
    async csv() {
      const before = residentBytes(bench.pid);
      let most = before;
      const timer = setInterval(() => {
        most = Math.max(most, residentBytes(bench.pid));
      }, SAMPLE_MS);
      const time = await seconds(() => bench.drain(path));
      clearInterval(timer);
      growth.push(most - before);
      return time;
    },
  });
  const speed = (times: readonly number[]) => commissions / median(times);
  const [own, bare] = [speed(samples.csv), speed(samples.copy)];
  const rate = (value: number) => `${count(Math.round(value / 1000) * 1000)} rows/s`;
  yield {
    measure: `CSV of ${count(commissions)} commissions`,
    figure: `${rate(own)} (${duration(median(samples.csv))})`,
    against: `COPY, same select ${rate(bare)}`,
    ratio: own / bare,
    goal: `≥ ${CSV_RATIO} ×`,
    met: own / bare >= CSV_RATIO,
    samples,
  };
  const most = Math.max(...growth);
  yield {
    measure: 'server memory grows during the CSV',
    figure: megabytes(most),
    against: '–',
    ratio: null,
    goal: `< ${megabytes(CSV_MEMORY)}`,
    met: Number.isNaN(most) ? null : most < CSV_MEMORY,
    samples: { bytes: growth },
  };
}

/** Undoes a Complete in which all were paid, lines and payout only, so that it can be measured again. */
async function reopen(bench: Bench): Promise<void> {
  await bench.pg.query('update payout_line_totals set is_paid = null');
  await bench.pg.query(`update payouts set status = 'unpaid', paid_at = null, paid_by = null`);
  await bench.pg.query('vacuum payout_lines, payout_line_totals');
}

/** Completes an account's payout with every affiliate paid; undoing it is not measured. */
async function completeAll(bench: Bench, account: string): Promise<number> {
  await bench.actAs(account);
  const { id } = await current(bench, account);
  const { rows } = await bench.pg.query<{ ids: number[] }>(
    'select json_agg(affiliate_id) as ids from payout_lines where account_id = $1',
    [account],
  );
  const entries = (rows[0]?.ids ?? []).map((affiliate) => ({ affiliate_id: affiliate, is_paid: true }));
  const time = await seconds(() => bench.send('PUT', `${PATH}/${id}`, { commissions: entries }));
  await reopen(bench);
  return time;
}

/** The same number of affiliates with one commission each, in another account: the rest of the cost is their lines. */
async function* complete(bench: Bench, sizes: Sizes): AsyncGenerator<Result> {
  const { commissions, affiliates, cheapRounds } = sizes;
  const few = await seedAccount(bench.pg, 'Few');
  await seedAffiliates(bench.pg, few, affiliates);
  await seedCommissions(bench.pg, { account: few, count: affiliates, affiliates });
  await bench.actAs(few);
  await createPayout(bench, affiliates);
  await settle(bench.pg);
  const samples = await interleaved(cheapRounds, {
    large: () => completeAll(bench, bench.account),
    small: () => completeAll(bench, few),
  });
  await bench.actAs(bench.account);
  const [large, small] = [median(samples.large), median(samples.small)];
  yield {
    measure: `complete ${count(commissions)} of ${count(affiliates)} affiliates, all paid`,
    figure: duration(large),
    against: `of ${count(affiliates)} commissions ${duration(small)}`,
    ratio: large / small,
    goal: `≤ ${COMPLETE_RATIO} ×`,
    met: large / small <= COMPLETE_RATIO,
    samples,
  };
}

/** Payouts of a million commissions: create, file, complete, delete, each compared with its minimum cost. */
export const payouts: Group = {
  name: 'payouts',
  area: 'Payouts',
  async *run(sizes, note) {
    const { commissions, affiliates } = sizes;
    const bench = await startBench();
    await seedAffiliates(bench.pg, bench.account, affiliates);
    note('creating');
    yield* create(bench, sizes);
    if ((await lineCount(bench)) === 0) {
      await freshBooks(bench, commissions, affiliates);
      await createPayout(bench, commissions);
    }
    await settle(bench.pg);
    note('downloading');
    yield* download(bench, sizes);

    note('completing');
    yield* complete(bench, sizes);
    note('deleting');
    await settle(bench.pg);
    const { id } = await current(bench, bench.account);
    const deleted = await seconds(() => bench.send('DELETE', `${PATH}/${id}`));
    yield {
      measure: `delete a payout of ${count(commissions)}`,
      figure: duration(deleted),
      against: '–',
      ratio: null,
      goal: '–',
      met: null,
      samples: { seconds: [deleted] },
    };
    await bench.stop();
  },
};

async function lineCount(bench: Bench): Promise<number> {
  const { rows } = await bench.pg.query<{ n: number }>('select count(*)::int as n from payout_lines');
  return rows[0]?.n ?? 0;
}
