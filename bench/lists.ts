import { connect } from '../src/db/connect.ts';
import { makePartitions } from '../src/db/partitions.ts';
import { count, duration, type Group, interleaved, median, type Result, seconds } from './measure.ts';
import { type Bench, startBench } from './program.ts';
import {
  seedAccount,
  seedAffiliates,
  seedCommissions,
  seedLog,
  seedPayouts,
  settle,
  settleLog,
  sumPayouts,
} from './seed.ts';

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

const LOG_GOAL = 2;
const LOG_PAGE = 100;
const LOG_ROUNDS = 15;
const LOG_BURST = 1_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A page of a log and the one it is held against. */
interface Pages {
  readonly what: string;
  readonly page: readonly [account: string, query: string];
  readonly against: readonly [what: string, account: string, query: string];
}

/** Any page of the delivery log and its exact total, of logs with many and few rows, even ones and one of an hour. */
async function* compareLogs(bench: Bench, sizes: { large: number; small: number }) {
  const { pg } = bench;
  const db = connect({ target: bench.connection, poolSize: 1, onIdleError: () => undefined });
  const weeks = Array.from({ length: 14 }, (_, week) =>
    new Date(Date.now() - week * 7 * DAY_MS).toISOString(),
  );
  await db.transaction((tx) => makePartitions(tx, weeks));
  await db.close();
  const [large, small, burst] = [
    await seedAccount(pg, 'Large log'),
    await seedAccount(pg, 'Small log'),
    await seedAccount(pg, 'Burst'),
  ];
  await seedLog(pg, { account: large, count: sizes.large, ageMs: 90 * DAY_MS, spanMs: 90 * DAY_MS });
  await seedLog(pg, { account: small, count: sizes.small, ageMs: 90 * DAY_MS, spanMs: 90 * DAY_MS });
  // the hour before this one, whole
  const ageMs = HOUR_MS + (Date.now() % HOUR_MS);
  await seedLog(pg, { account: burst, count: LOG_BURST, ageMs, spanMs: HOUR_MS });
  await settleLog(pg);
  for (const { what, page, against } of pagesOf({ large, small, burst }, sizes)) {
    const ask = async (account: string, query: string) => {
      await bench.actAs(account);
      return seconds(() => bench.send('GET', `/v2/webhook-events?per_page=${LOG_PAGE}${query}`));
    };
    const [againstWhat, ...other] = against;
    const samples = await interleaved(LOG_ROUNDS, { page: () => ask(...page), against: () => ask(...other) });
    const [measured, base] = [median(samples.page), median(samples.against)];
    const result: Result = {
      measure: `delivery log, ${what}`,
      figure: duration(measured),
      against: `${againstWhat}, ${duration(base)}`,
      ratio: measured / base,
      goal: `≤ ${LOG_GOAL} ×`,
      met: measured / base <= LOG_GOAL,
      samples,
    };
    yield result;
  }
}

function pagesOf(
  { large, small, burst }: { large: string; small: string; burst: string },
  sizes: { large: number; small: number },
): Pages[] {
  const [many, few, hour] = [count(sizes.large), count(sizes.small), `${count(LOG_BURST)} in an hour`];
  const last = (rows: number) => Math.floor(rows / LOG_PAGE);
  const middle = LOG_BURST * 0.492; // within a minute, far from its ends
  const deep = (rows: number) => `&page=${last(rows)}`;
  const first = [`page 1 of ${few}`, small, ''] as const;
  return [
    { what: `page 1 of ${many}`, page: [large, ''], against: first },
    { what: `page ${last(sizes.large)} of ${many}`, page: [large, deep(sizes.large)], against: first },
    {
      what: `the oldest of ${many} first, page ${last(sizes.large) >> 1}`,
      page: [large, `&sort=id${deep(sizes.large >> 1)}`],
      against: first,
    },
    { what: `page 1 of ${hour}`, page: [burst, ''], against: first },
    { what: `page ${last(LOG_BURST)} of ${hour}`, page: [burst, deep(LOG_BURST)], against: first },
    { what: `page ${last(middle)} of ${hour}`, page: [burst, deep(middle)], against: first },
    {
      what: `failed of ${many}, page ${last(sizes.large / 100)}`,
      page: [large, `&status=failed${deep(sizes.large / 100)}`],
      against: [`failed of ${few}, page 1`, small, '&status=failed'],
    },
    {
      what: `one type in a thousand of ${many}, page 1`,
      page: [large, '&type=payout.paid'],
      against: [`of ${few}`, small, '&type=payout.paid'],
    },
  ];
}

/** Page 1 and the exact total of the commissions list, each status; any page of the delivery log and its total. */
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
    const sizes = { large: listLarge, small: listSmall };
    yield* compare(bench, { large: bench.account, small }, sizes);
    note(`seeding ${count(listLarge)} rows of the delivery log`);
    yield* compareLogs(bench, sizes);
    await bench.stop();
  },
};
