import { count, duration, type Group, interleaved, median, type Result, seconds } from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { seedAccount, seedAffiliates, seedCommissions, seedPayouts, settle, sumPayouts } from './seed.ts';

const GOAL = 3;
const AFFILIATES = 1000;
const PAYOUTS = 21;
const ROUNDS_SECONDS = 6;
const OPEN = 'c.payout_id is null and c.voided_at is null';
/** Each status, and how PostgreSQL counts it plainly. */
const STATUSES = {
  all: 'true',
  pending: `${OPEN} and c.available_at > now()`,
  unpaid: `(${OPEN} and c.available_at <= now()) or p.status = 'unpaid'`,
  paid: `p.status = 'paid'`,
  voided: 'c.voided_at is not null',
};

/**
 * The oldest half is paid in twenty payouts, then a twentieth is in the unpaid payout, then come unpaid ones with a
 * few voided and on hold: page 1 of `paid` is behind all newer rows.
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

/** Throws unless the total of an answer is what PostgreSQL counts. */
async function check(
  bench: Bench,
  { account, path, condition }: Record<'account' | 'path' | 'condition', string>,
) {
  const { rows } = await bench.pg.query<{ n: number }>(
    `select count(*)::int as n from commissions c
     left join payouts p on p.account_id = c.account_id and p.id = c.payout_id
     where c.account_id = $1 and (${condition})`,
    [account],
  );
  await bench.actAs(account);
  const answer = JSON.parse(await bench.send('GET', path)) as { pagination: { total: number } };
  if (answer.pagination.total !== rows[0]?.n) {
    throw new Error(`${path} returned ${answer.pagination.total} of ${rows[0]?.n}`);
  }
}

async function* compare(
  bench: Bench,
  accounts: { large: string; small: string },
  sizes: { large: number; small: number },
) {
  for (const [status, condition] of Object.entries(STATUSES)) {
    const path = `/v2/affiliates/commissions?per_page=50${status === 'all' ? '' : `&status=${status}`}`;
    for (const account of [accounts.large, accounts.small]) await check(bench, { account, path, condition });
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
      measure: `page 1 at ${count(sizes.large)}, ${status}`,
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

/** Page 1 and the exact total of the commissions list, each status. */
export const lists: Group = {
  name: 'lists',
  area: 'Commissions list, a page of 50 and the exact total',
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
