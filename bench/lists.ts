import { count, duration, type Group, interleaved, median, type Result, seconds } from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { seedAccount, seedAffiliates, seedCommissions, seedPayouts, settle, sumPayouts } from './seed.ts';

const GOAL = 3;
const AFFILIATES = 1000;
const PAYOUTS = 21;
const ROUNDS_SECONDS = 6;
const STATUSES = ['', 'pending', 'unpaid', 'paid', 'voided'];

/**
 * The oldest half is paid in twenty payouts, then a twentieth is in the unpaid payout, then come owed ones with a
 * few voided and a few on hold among them: page 1 of `paid` lies behind everything that is newer.
 */
async function seedHistory(bench: Bench, account: string, total: number): Promise<void> {
  await seedAffiliates(bench.pg, account, AFFILIATES);
  await seedPayouts(bench.pg, account, PAYOUTS);
  const share = `(g::float8 / ${total})`;
  await seedCommissions(bench.pg, {
    account,
    count: total,
    affiliates: AFFILIATES,
    payout: `case when ${share} <= 0.5 then p.ids[least(${PAYOUTS - 1}, 1 + floor(${share} * ${2 * (PAYOUTS - 1)})::int)]
                  when ${share} <= 0.55 then p.ids[${PAYOUTS}] end`,
    availableAt: `case when ${share} > 0.55 and g % 50 = 1 then now() + interval '30 days' else t.at end`,
    voidedAt: `case when ${share} > 0.55 and g % 50 = 2 then now() end`,
  });
  await sumPayouts(bench.pg, account);
}

async function* compare(
  bench: Bench,
  accounts: { large: string; small: string },
  sizes: { large: number; small: number },
) {
  for (const status of STATUSES) {
    const path = `/v2/affiliates/commissions?per_page=50${status && `&status=${status}`}`;
    const ask = async (account: string) => {
      await bench.actAs(account);
      return seconds(() => bench.send('GET', path));
    };
    const probe = await ask(accounts.large);
    await ask(accounts.small);
    const rounds = Math.max(2, Math.min(15, Math.floor(ROUNDS_SECONDS / probe)));
    const samples = await interleaved(rounds, {
      large: () => ask(accounts.large),
      small: () => ask(accounts.small),
    });
    const [large, small] = [median(samples.large), median(samples.small)];
    const result: Result = {
      measure: `commissions list at ${count(sizes.large)}, page 1 and total, ${status || 'all'}`,
      figure: duration(large),
      against: `at ${count(sizes.small)} ${duration(small)}`,
      ratio: large / small,
      goal: `≤ ${GOAL} ×`,
      met: large / small <= GOAL,
      samples,
    };
    yield result;
  }
}

/** Page 1 and the exact total of the commissions list, each status, of an account with many and one with few. */
export const lists: Group = {
  name: 'lists',
  async *run({ listLarge, listSmall }, note) {
    const bench = await startBench();
    note(`seeding ${count(listLarge)} commissions`);
    const small = await seedAccount(bench.pg, 'Small');
    await seedHistory(bench, bench.account, listLarge);
    await seedHistory(bench, small, listSmall);
    await settle(bench.pg);
    note('asking');
    yield* compare(bench, { large: bench.account, small }, { large: listLarge, small: listSmall });
    await bench.stop();
  },
};
