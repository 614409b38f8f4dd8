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
  sumSeries,
} from './seed.ts';

const GOAL_SECONDS = 0.05;
const ROUNDS = 9;
const MONTHS = 36;
const MONTH_DAYS = 30;
/** Of each affiliate: 100 thousand affiliates with ten million. */
const COMMISSIONS = 100;

const GROUPS = ['currency', 'program', 'method', 'country', 'affiliate'] as const;

/** Reports of a quarter by each grouping: three years of commissions, paid every month. */
export const reports: Group = {
  name: 'reports',
  area: 'Reports of a quarter, after three years',
  async *run({ listLarge, listSmall }, note) {
    const bench = await startBench();
    const small = await seedAccount(bench.pg, 'Small');
    for (const [account, total] of [
      [bench.account, listLarge],
      [small, listSmall],
    ] as const) {
      note(`seeding ${count(total)} commissions`);
      const affiliates = total / COMMISSIONS;
      await seedAffiliates(bench.pg, account, affiliates);
      await bench.pg.query(
        `update affiliates set country = (array['DE', 'FR', 'US', 'GB', 'NL'])[1 + id % 5] where account_id = $1`,
        [account],
      );
      await seedPayouts(bench.pg, account, MONTHS);
      const share = `(g::float8 / ${total})`;
      const payout = `case when ${share} <= 0.97 then p.ids[1 + floor(${share} / 0.97 * ${MONTHS} * 0.999)::int] end`;
      await seedCommissions(bench.pg, {
        account,
        count: total,
        affiliates,
        payout,
        days: MONTHS * MONTH_DAYS,
      });
      await bench.pg.query(
        `update payouts set paid_at = now() - make_interval(days => (${MONTHS} - number)::int * ${MONTH_DAYS})
         where account_id = $1 and status = 'paid'`,
        [account],
      );
      await sumPayouts(bench.pg, account);
      await sumBalances(bench.pg, account);
    }
    note('adding up the series');
    const summing = await seconds(() => sumSeries(bench.pg));
    note(`took ${summing.toFixed(0)} s`);
    await settle(bench.pg);
    for (const by of GROUPS) {
      const ask = async (account: string) => {
        await bench.actAs(account);
        return seconds(() => bench.send('GET', `/v2/reports/summary?period=last_quarter&by=${by}`));
      };
      const samples = await interleaved(ROUNDS, { large: () => ask(bench.account), small: () => ask(small) });
      const [large, little] = [median(samples.large), median(samples.small)];
      const result: Result = {
        measure: `by ${by}, ${count(listLarge)} commissions of ${count(listLarge / COMMISSIONS)} affiliates`,
        figure: duration(large),
        against: `of ${count(listSmall)} ${duration(little)}`,
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
