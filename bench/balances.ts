import { setTimeout } from 'node:timers/promises';
import { count, duration, type Group, interleaved, median, type Result, seconds } from './measure.ts';
import { startBench } from './program.ts';
import {
  seedAccount,
  seedAffiliates,
  seedCommissions,
  seedPayouts,
  settle,
  sumBalances,
  sumPayouts,
} from './seed.ts';

const GOAL_SECONDS = 0.05;
const PAYOUTS = 13;
const ROUNDS = 15;
/** Accounts whose balances a chore has not processed yet. */
const UNJUDGED = `select from accounts a left join affiliate_balance_marks m on m.account_id = a.id
  where m.minimum_payout is distinct from a.minimum_payout`;
const PATHS = {
  'page 1 of affiliates': '/v2/affiliates?per_page=50',
  'page 1, most unpaid first': '/v2/affiliates?per_page=50&sort=-unpaid',
  'the last page of them': '/v2/affiliates?per_page=50&sort=unpaid&page=',
  'page 1, not ready for payout': '/v2/affiliates?per_page=50&sort=-unpaid&is_ready_for_payout=false',
  'what is owed in all': '/v2/affiliates/balances',
};

/** Balances in the list of affiliates, and the totals: a hundred commissions per affiliate. */
export const balances: Group = {
  name: 'balances',
  area: 'Balances of affiliates, a hundred commissions each',
  async *run({ listLarge, listSmall }, note) {
    const bench = await startBench();
    const small = await seedAccount(bench.pg, 'Small');
    for (const [account, total] of [
      [bench.account, listLarge],
      [small, listSmall],
    ] as const) {
      note(`seeding ${count(total)} commissions`);
      await seedAffiliates(bench.pg, account, total / 100);
      await seedPayouts(bench.pg, account, PAYOUTS);
      const share = `(g::float8 / ${total})`;
      await seedCommissions(bench.pg, {
        account,
        count: total,
        affiliates: total / 100,
        payout: `case when ${share} <= 0.9 then p.ids[1 + floor(${share} / 0.9 * ${PAYOUTS} * 0.999)::int] end`,
        availableAt: `case when ${share} > 0.96 then now() + ${share} * interval '30 days' else t.at end`,
      });
      await sumPayouts(bench.pg, account);
      await sumBalances(bench.pg, account);
    }
    note('waiting until the states of balances are found');
    for (let tries = 0; tries < 120 && (await bench.pg.query(UNJUDGED)).rows.length > 0; tries += 1)
      await setTimeout(500);
    await settle(bench.pg);
    note('asking');
    for (const [name, path] of Object.entries(PATHS)) {
      const ask = async (account: string, total: number) => {
        await bench.actAs(account);
        const page = path.endsWith('page=') ? total / 100 / 50 : '';
        return seconds(() => bench.send('GET', `${path}${page}`));
      };
      const samples = await interleaved(ROUNDS, {
        large: () => ask(bench.account, listLarge),
        small: () => ask(small, listSmall),
      });
      const [large, little] = [median(samples.large), median(samples.small)];
      const result: Result = {
        measure: `${name}, ${count(listLarge / 100)}`,
        figure: duration(large),
        against: `of ${count(listSmall / 100)} ${duration(little)}`,
        ratio: large / little,
        goal: `≤ ${duration(GOAL_SECONDS)}`,
        met: large <= GOAL_SECONDS,
        samples,
      };
      yield result;
    }
    await bench.stop();
  },
};
