import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { apiOf } from '../support/api.ts';
import { isLong } from '../support/depth.ts';
import { IMBALANCES, MISSING_EVENTS } from '../support/imbalances.ts';
import { makeAffiliates, takeIn } from '../support/seed.ts';
import { useWorld, type World } from '../support/world.ts';
import { COMMISSIONS, PAYOUTS, staggered } from './support.ts';

const REFUNDS = '/v2/affiliates/refunds';

/*
 * Every operation on money against every other, concurrently. The result must be one of the two sequential results: the
 * same responses, the same rows, the same events. The program itself computes the two sequential results, in separate
 * accounts.
 */

interface Stage {
  readonly api: Api;
  readonly account: string;
  readonly first: number;
  readonly second: number;
  readonly payout: string | undefined;
  /** The path of returned money of a paid payout: 40 of the first one's 600. */
  readonly returned: string | undefined;
  /** Commission ids by external_id. */
  readonly commissions: Readonly<Record<string, string>>;
}

type Act = (stage: Stage) => Promise<Answer>;
type Scene =
  | 'with an unpaid payout'
  | 'without a payout'
  | 'with a paid payout'
  | 'with refunds and an unpaid payout'
  | 'with refunds, without a payout'
  | 'with refunds and a paid payout';

const world = useWorld({ databaseLatencyMs: 0, poolSize: 20 });
let second: Awaited<ReturnType<World['secondServer']>>;
let made = 0;
beforeAll(async () => {
  second = await world.secondServer();
});
afterAll(() => second?.close());

/** A new account with two affiliates and their sales, in one of three states, with refunds or without. */
async function stage(scene: Scene): Promise<Stage> {
  made += 1;
  const api = await world.otherAccount(`stage ${made}`);
  const [first = 0, other = 0] = await makeAffiliates(api, 2);
  await takeIn(
    api,
    [300, 200, 100].flatMap((amount, index) => [
      { external_id: `first-${index}`, affiliate_id: first, amount, currency: 'usd' },
      { external_id: `second-${index}`, affiliate_id: other, amount: amount + 7, currency: 'usd' },
    ]),
  );
  const { body: list } = await api.get(COMMISSIONS);
  const idOf = (name: string) =>
    list.data.find(({ external_id }: { external_id: string }) => external_id === name).id;
  const mistake = { external_id: 'mistake', amount: 50 };
  const refunds = scene.startsWith('with refunds');
  const isPaid = scene.endsWith('a paid payout');
  if (refunds) {
    await api.post(REFUNDS, { external_id: 'waiting', order_id: 'late', sale_amount: 100 });
    if (!isPaid) await api.post(`${COMMISSIONS}/${idOf('first-1')}/refund`, mistake);
  }
  const payout = scene.endsWith('without a payout') ? undefined : (await api.post(PAYOUTS)).body.id;
  if (isPaid) {
    await api.put(`${PAYOUTS}/${payout}`, { commissions: [{ affiliate_id: first, is_paid: true }] });
    if (refunds) {
      await api.post(`${COMMISSIONS}/${idOf('first-1')}/refund`, mistake);
      await takeIn(api, [{ external_id: 'next', affiliate_id: first, amount: 70, currency: 'usd' }]);
    }
  }
  const back = `${PAYOUTS}/${payout}/affiliates/${first}/returned`;
  let returned: string | undefined;
  if (scene === 'with a paid payout') {
    await api.post(back, { reason: 'a mistake', amount: 40 });
    returned = `${back}/${(await api.get(back)).body.data[0].id}`;
  }
  return {
    api,
    account: (await api.get('/v2/account')).body.id,
    first,
    second: other,
    payout,
    returned,
    commissions: Object.fromEntries(
      list.data.map((each: { external_id: string; id: string }) => [each.external_id, each.id]),
    ),
  };
}

const ACTS: Record<string, Act> = {
  create: ({ api }) => api.post(PAYOUTS),
  complete: ({ api, payout, first }) =>
    api.put(`${PAYOUTS}/${payout}`, { commissions: [{ affiliate_id: first, is_paid: true }] }),
  'complete with the seen revision': ({ api, payout, first, second: other }) =>
    api.put(
      `${PAYOUTS}/${payout}`,
      { commissions: [first, other].map((affiliate_id) => ({ affiliate_id, is_paid: true })) },
      { 'if-match': '"1"' },
    ),
  delete: ({ api, payout }) => api.delete(`${PAYOUTS}/${payout}`),
  'refund in full': ({ api, commissions }) =>
    api.post(`${COMMISSIONS}/${commissions['first-0']}/refund`, { external_id: 'full' }),
  'refund in part': ({ api, commissions }) =>
    api.post(`${COMMISSIONS}/${commissions['first-0']}/refund`, { external_id: 'part', amount: 120 }),
  void: ({ api, commissions }) => api.post(`${COMMISSIONS}/${commissions['first-1']}/void`, {}),
  hold: ({ api, commissions }) => api.post(`${COMMISSIONS}/${commissions['first-2']}/hold`),
  debit: ({ api, first }) =>
    api.post(`/v2/affiliates/${first}/adjustments`, { external_id: 'debit', amount: -450, currency: 'usd' }),
  'take a sale in': ({ api, first }) =>
    api.post(COMMISSIONS, { external_id: 'late', affiliate_id: first, amount: 55, currency: 'usd' }),
  'change the destination': ({ api, first }) =>
    api.patch(`/v2/affiliates/${first}`, { paypal_email: 'new@example.com' }),
  deactivate: ({ api, first }) => api.patch(`/v2/affiliates/${first}`, { status: 'inactive' }),
  'raise the minimum': ({ api, first }) =>
    api.patch(`/v2/affiliates/${first}`, { minimum_payout: { usd: 590 } }),
  'take a refunded sale in': ({ api, first }) =>
    api.post(COMMISSIONS, {
      ...{ external_id: 'late', affiliate_id: first, amount: 55, currency: 'usd' },
      ...{ order_id: 'late', sale_amount: 550 },
    }),
  'take refunded sales in': ({ api, first, second: other }) =>
    api.post(`${COMMISSIONS}/batch`, {
      commissions: [first, other].map((affiliate_id, index) => ({
        ...{ external_id: `late-${index}`, affiliate_id, amount: 55, currency: 'usd', order_line_id: 'line' },
        ...{ order_id: index === 0 ? 'late' : 'later', sale_amount: 550 },
      })),
    }),
  'refund what comes in': ({ api }) => api.post(REFUNDS, { external_id: 'whole', order_id: 'late' }),
  withdraw: ({ api }) => api.post(`${REFUNDS}/waiting/reverse`),
  'reverse the refund': ({ api }) => api.post(`${REFUNDS}/mistake/reverse`),
  'refund it again': ({ api, commissions }) =>
    api.post(`${COMMISSIONS}/${commissions['first-1']}/refund`, { external_id: 'again' }),
  'void what was refunded': ({ api, commissions }) =>
    api.post(`${COMMISSIONS}/${commissions['first-1']}/void`, {}),
  'complete a part': ({ api, payout, first, second: other }) =>
    api.put(`${PAYOUTS}/${payout}`, {
      commissions: [
        { affiliate_id: first, is_paid: true, currency: 'usd', amount: 450 },
        { affiliate_id: other, is_paid: true },
      ],
    }),
  'return a part': ({ api, payout, first }) =>
    api.post(`${PAYOUTS}/${payout}/affiliates/${first}/returned`, { reason: 'account closed', amount: 400 }),
  'undo the return': ({ api, returned }) => api.delete(returned ?? ''),
  'return the money': ({ api, payout, first }) =>
    api.post(`${PAYOUTS}/${payout}/affiliates/${first}/returned`, { reason: 'account closed' }),
};

const SCENES: Record<Scene, readonly string[]> = {
  'with an unpaid payout': [
    'complete',
    'complete with the seen revision',
    'complete a part',
    'delete',
    'create',
    'refund in full',
    'refund in part',
    'void',
    'hold',
    'debit',
    'change the destination',
  ],
  'without a payout': [
    'create',
    'refund in full',
    'refund in part',
    'void',
    'hold',
    'debit',
    'take a sale in',
    'change the destination',
    'deactivate',
    'raise the minimum',
  ],
  'with refunds and an unpaid payout': [
    'reverse the refund',
    'complete',
    'complete a part',
    'delete',
    'refund it again',
    'void what was refunded',
  ],
  'with refunds, without a payout': [
    'take a refunded sale in',
    'take refunded sales in',
    'refund what comes in',
    'withdraw',
    'reverse the refund',
    'create',
  ],
  'with refunds and a paid payout': ['reverse the refund', 'create', 'refund it again', 'return the money'],
  'with a paid payout': [
    'return the money',
    'return a part',
    'undo the return',
    'create',
    'refund in full',
    'refund in part',
    'void',
    'debit',
  ],
};

/** All stored rows of an account, without what differs between accounts. */
async function outcome({ account }: Stage): Promise<unknown> {
  const [row] = await world.query<{ state: unknown }>(
    `with own as (select id from accounts where public_id('acc', id) = $1),
       c as (select * from commissions where account_id = (select id from own)),
       p as (select * from payouts where account_id = (select id from own)),
       a as (select * from affiliates where account_id = (select id from own)),
       l as (select * from payout_lines where account_id = (select id from own)),
       t as (select * from payout_line_totals where account_id = (select id from own)),
       x as (select * from payout_exclusions where account_id = (select id from own)),
       e as (select * from events where account_id = (select id from own))
     select json_build_object(
       'payouts', (select json_agg(json_build_array(status, revision, totals, excluded) order by number) from p),
       'lines', (select json_agg(json_build_array(p.number, a.email, t.is_paid, l.paypal_email, t.returned_amount, t.carried_amount,
                                 t.currency, t.amount, t.commission_count) order by p.number, a.email, t.currency)
                 from l join p on p.id = l.payout_id join a on a.id = l.affiliate_id
                 join t on t.payout_id = l.payout_id and t.affiliate_id = l.affiliate_id),
       'excluded', (select json_agg(json_build_array(p.number, a.email, x.reason, x.amount, x.commission_count)
                                    order by p.number, a.email, x.reason)
                    from x join p on p.id = x.payout_id join a on a.id = x.affiliate_id),
       'commissions', (select json_agg(json_build_array(c.type, regexp_replace(c.external_id, ':(com|po)_.*', ''), c.amount,
                                       c.original_amount, c.refunded_amount, c.voided_at is not null,
                                       c.available_at = 'infinity', p.number, p.status)
                                       order by c.type, regexp_replace(c.external_id, ':(com|po)_.*', ''), c.amount)
                       from c left join p on p.id = c.payout_id),
       'refunds', (select json_agg(json_build_array(external_id, status,
           (select json_agg(json_build_array(status, order_line_id, is_open) order by position)
            from refund_lines l where l.refund_id = r.id),
           (select json_agg(json_build_array(c.external_id, i.amount, i.sale_amount, i.capped) order by c.external_id)
            from refund_items i join commissions c on c.id = i.commission_id where i.refund_id = r.id)) order by external_id)
                   from refunds r where account_id = (select id from own)),
       'affiliates', (select json_agg(json_build_array(email, paypal_email, status, minimum_payout) order by email) from a),
       'events', (select json_agg(type order by type) from e)) as state`,
    [account],
    'outcome',
  );
  return row?.state;
}

const statusOf = ({ status, reason }: Answer) => `${status} ${reason ?? ''}`.trim();

/**
 * The start delays in the rounds of a pair, within the round trips of one request. In a short run every second pair
 * starts at once and the others with a delay.
 */
function gapsOf(pair: number): readonly number[] {
  const gaps = [0, 30 + ((pair * 25) % 125)];
  return isLong ? gaps : gaps.slice(pair % 2, (pair % 2) + 1);
}

describe.each(Object.entries(SCENES))('%s', (scene, names) => {
  test('two concurrent operations have the result of one of the two orders', async () => {
    const all = names.flatMap((a, index) => names.slice(index).map((b) => [a, b] as const));
    // a short run has every sixteenth pair, others in each scene
    const first = Object.keys(SCENES).indexOf(scene);
    const pairs = isLong ? all : all.filter((_, index) => index % 16 === first);
    const act = (name: string) => ACTS[name] as Act;

    const orders = await inBatches(pairs, async ([a, b]) => {
      const possible: unknown[] = [];
      for (const [x, y, swapped] of [[a, b, false] as const, [b, a, true] as const]) {
        const own = await stage(scene as Scene);
        const answers = [statusOf(await act(x)(own)), statusOf(await act(y)(own))];
        possible.push({ answers: swapped ? answers.toReversed() : answers, state: await outcome(own) });
      }
      const stages = await Promise.all(gapsOf(0).map(() => stage(scene as Scene)));
      return { possible, stages };
    });

    if (!world.latency) throw new Error('the world has no proxy');
    world.latency.latencyMs = 25;
    const raced = await inBatches([...pairs.entries()], ([index, [a, b]]) =>
      Promise.all(
        gapsOf(index).map(async (gap, round) => {
          const own = orders[index]?.stages[round] as Stage;
          const onSecond = { ...own, api: apiOf(second.api.url, own.api.key) };
          const works = [() => act(a)(own), () => act(b)(onSecond)];
          const isReversed = (Math.floor(index / 2) + round) % 2 === 1;
          const answers = await staggered(gap, ...(isReversed ? works.toReversed() : works));
          return (isReversed ? answers.toReversed() : answers).map(statusOf);
        }),
      ),
    );
    world.latency.latencyMs = 0;

    for (const [index, [a, b]] of pairs.entries()) {
      const { possible = [], stages = [] } = orders[index] ?? {};
      for (const [round, own] of stages.entries()) {
        const found = { answers: raced[index]?.[round], state: await outcome(own) };
        // shown against the nearer of the two orders
        const sameAnswers = possible.find(
          (each) => JSON.stringify((each as typeof found).answers) === JSON.stringify(found.answers),
        );
        const fits = possible.some((each) => JSON.stringify(each) === JSON.stringify(found));
        if (!fits) expect(found, `${a} and ${b} at once`).toEqual(sameAnswers ?? possible[0]);
      }
    }
    expect(await world.query(IMBALANCES)).toEqual([]);
    expect(await world.query(MISSING_EVENTS)).toEqual([]);
  });
});

/** Eight at a time. */
async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let start = 0; start < items.length; start += 8)
    results.push(...(await Promise.all(items.slice(start, start + 8).map(work))));
  return results;
}
