import { setTimeout as delay } from 'node:timers/promises';
import { choresOf } from '../src/app/chores.ts';
import { openPlatform, type Platform } from '../src/app/platform.ts';
import { doChore } from '../src/db/chores.ts';
import { readConfig } from '../src/kernel/config.ts';
import {
  count,
  duration,
  type Group,
  interleaved,
  median,
  type Result,
  type Sizes,
  seconds,
} from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { LOOPBACK, type Receiver, startReceiver } from './receiver.ts';
import {
  seedAffiliates,
  seedCommissions,
  seedPayouts,
  settle,
  sumBalances,
  sumPayouts,
  sumSeries,
} from './seed.ts';
import { makePastWeeks, seedLog, settleLog } from './seed-log.ts';

const GOAL = 2;
const MONTHS = 36;
const MONTH_DAYS = 30;
const DAY_MS = 86_400_000;
/** The default retention of the log, which drops whole weeks. */
const RETENTION_DAYS = 90;
const AFFILIATES = 1000;
/** The part of each month that is unpaid at its end: the amount owed is the same after years as after a month. */
const OPEN = 0.5;
const ROUNDS = 9;
const CHORE_ROUNDS = 5;
/** The ratio of a faster chore is only noise. */
const JUDGED_S = 0.05;
const PUBLISHED = 500;
const POLL_MS = 50;

const PAGES = {
  'commissions, page 1': '/v2/affiliates/commissions?per_page=50',
  'commissions, page 1 of unpaid': '/v2/affiliates/commissions?per_page=50&status=unpaid',
  'commissions, page 1 of paid': '/v2/affiliates/commissions?per_page=50&status=paid',
  'affiliates, most unpaid first': '/v2/affiliates?per_page=50&sort=-unpaid',
  'payouts, page 1': '/v2/affiliates/payouts?per_page=20',
  'what is owed in all': '/v2/affiliates/balances',
  'paid in the last month, page 1': `/v2/affiliates/reports/paid/rows?per_page=50&from=${dayBefore(MONTH_DAYS)}`,
  'statement of the last month': `/v2/affiliates/{affiliate}/statement?from=${dayBefore(MONTH_DAYS)}`,
  'chart of commissions, 30 days': '/v2/analytics/commissions',
  'report of the last month by currency': '/v2/reports/summary?period=last_month',
  'the same by affiliate': '/v2/reports/summary?period=last_month&by=affiliate',
  'log, page 1': '/v2/webhook-events?per_page=50',
  'log, page 1 of failed': '/v2/webhook-events?per_page=50&status=failed',
  'chart of deliveries, 7 days': `/v2/analytics/deliveries?interval=day&from=${encodeURIComponent(new Date(Date.now() - 7 * DAY_MS).toISOString())}`,
} as const;

function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

/** An installation after some months of use. */
interface Installation {
  readonly bench: Bench;
  readonly platform: Platform;
  readonly affiliate: number;
  /** Where `PUBLISHED` events are sent. */
  readonly receiver: Receiver;
}

/** The data of a merchant after this many months: the last month is paid in part, all earlier ones are paid. */
async function installationOf(
  months: number,
  { commissions, events }: { readonly commissions: number; readonly events: number },
): Promise<Installation> {
  const receiver = await startReceiver();
  const bench = await startBench(LOOPBACK);
  const { pg, account } = bench;
  const total = months * commissions;
  const days = months * MONTH_DAYS;
  await seedAffiliates(pg, account, AFFILIATES);
  await seedPayouts(pg, account, months + 1);
  await pg.query(`delete from payouts where account_id = $1 and status = 'unpaid'`, [account]);
  await pg.query('update payout_books set next_number = $2 where account_id = $1', [account, months + 1]);
  // the month of the row g, counted from 1; the last part of the last month is in no payout
  const isOpen = `g > ${total - Math.round(commissions * OPEN)}`;
  const payout = `case when not (${isOpen}) then p.ids[1 + (g - 1) / ${commissions}] end`;
  await seedCommissions(pg, { account, count: total, affiliates: AFFILIATES, payout, days });
  await pg.query(
    `update payouts set paid_at = now() - make_interval(days => ($2::int - number)::int * ${MONTH_DAYS}) where account_id = $1`,
    [account, months],
  );
  await sumPayouts(pg, account);
  await sumBalances(pg, account);
  await sumSeries(pg);
  // older rows were dropped
  const logDays = Math.min(days, RETENTION_DAYS);
  const spanMs = logDays * DAY_MS;
  await makePastWeeks(bench, Math.ceil(logDays / 7) + 1);
  await seedLog(bench, {
    accounts: [account],
    count: Math.round((logDays / MONTH_DAYS) * events),
    ageMs: spanMs,
    spanMs,
  });
  await pg.query(`update webhook_endpoints set event_types = '{order.created}'`);
  await bench.send('POST', '/v2/webhook-endpoints', { url: receiver.url, event_types: ['bench.happened'] });
  await settle(pg);
  await settleLog(pg);
  await pg.query('vacuum (analyze)');
  const config = readConfig({ DATA_DIR: bench.dataDir });
  const platform = await openPlatform(config, { purpose: 'command' });
  const { rows } = await pg.query<{ id: string }>('select min(id) as id from affiliates');
  return { bench, platform, receiver, affiliate: Number(rows[0]?.id) };
}

type Task = (installation: Installation) => Promise<number>;

const asking =
  (path: string): Task =>
  ({ bench, affiliate }) =>
    seconds(() => bench.send('GET', path.replace('{affiliate}', String(affiliate))));

/** Creates a payout of the owed amount, and deletes it. */
const createPayout: Task = async ({ bench }) => {
  let answer = '';
  const time = await seconds(async () => {
    answer = await bench.send('POST', '/v2/affiliates/payouts', {});
  });
  const { id } = JSON.parse(answer) as { id: string };
  await bench.send('DELETE', `/v2/affiliates/payouts/${id}`);
  return time;
};

const preview: Task = ({ bench }) => seconds(() => bench.send('POST', '/v2/affiliates/payouts/preview', {}));

let made = 0;
const createCommission: Task = ({ bench, affiliate }) => {
  made += 1;
  const fields = { external_id: `bench-${made}`, affiliate_id: affiliate, currency: 'usd', amount: 1 };
  return seconds(() => bench.send('POST', '/v2/affiliates/commissions', fields));
};

/** Events from the request until the receiver has them all and the queue is empty: claims, attempts, settles. */
const deliver: Task = async ({ bench, receiver }) => {
  await receiver.reset();
  const events = Array.from({ length: PUBLISHED }, (_, number) => ({
    type: 'bench.happened',
    data: { number },
  }));
  return seconds(async () => {
    await bench.send('POST', '/v2/events/batch', { events });
    await receiver.until(PUBLISHED);
    while ((await bench.pg.query('select from queue limit 1')).rows.length > 0) await delay(POLL_MS);
  });
};

const TASKS: Readonly<Record<string, readonly [task: Task, rounds: number]>> = {
  ...Object.fromEntries(Object.entries(PAGES).map(([name, path]) => [name, [asking(path), ROUNDS]])),
  'create a commission': [createCommission, ROUNDS],
  'preview of a payout': [preview, 5],
  'create a payout': [createPayout, 3],
  [`publish and deliver ${PUBLISHED} events`]: [deliver, 3],
};

function resultOf(measure: string, samples: Readonly<Record<'years' | 'month', readonly number[]>>): Result {
  const [years, month] = [median(samples.years), median(samples.month)];
  return {
    measure,
    figure: duration(years),
    against: `after a month ${duration(month)}`,
    ratio: years / month,
    goal: `≤ ${GOAL} ×`,
    met: years / month <= GOAL,
    samples,
  };
}

/** Each chore without pending work, if it takes longer than a few milliseconds. */
async function* chores(years: Installation, month: Installation): AsyncGenerator<Result> {
  const samples = new Map<string, Record<'years' | 'month', number[]>>();
  for (let round = -1; round < CHORE_ROUNDS; round += 1) {
    for (const [name, { platform }] of Object.entries({ years, month }) as [
      'years' | 'month',
      Installation,
    ][]) {
      for (const chore of choresOf(platform)) {
        const time = await seconds(() => doChore(platform.db, chore));
        const times = samples.get(chore.name) ?? { years: [], month: [] };
        // the first round does the pending work
        if (round >= 0) times[name].push(time);
        samples.set(chore.name, times);
      }
    }
  }
  for (const [name, times] of samples) {
    if (median(times.years) >= JUDGED_S) yield resultOf(`chore: ${name}`, times);
  }
  const sums = (name: 'years' | 'month') =>
    Array.from({ length: CHORE_ROUNDS }, (_, round) =>
      [...samples.values()].reduce((sum, times) => sum + (times[name][round] ?? 0), 0),
    );
  yield resultOf(`all ${samples.size} chores once, with nothing to do`, {
    years: sums('years'),
    month: sums('month'),
  });
}

/** The cost of three years of commissions and events compared with a month. */
export const years: Group = {
  name: 'years',
  area: `Three years of use against a month`,
  async *run({ monthly }: Sizes, note) {
    note(
      `seeding a month of ${count(monthly.commissions)} commissions and ${count(monthly.events)} deliveries`,
    );
    const month = await installationOf(1, monthly);
    note(`seeding ${MONTHS} of them`);
    const all = await installationOf(MONTHS, monthly);
    for (const [name, [task, rounds]] of Object.entries(TASKS)) {
      note(name);
      await task(all);
      await task(month);
      yield resultOf(name, await interleaved(rounds, { years: () => task(all), month: () => task(month) }));
    }
    note('chores');
    yield* chores(all, month);
    for (const { platform, bench } of [all, month]) {
      await platform.close();
      await bench.stop();
    }
  },
};
