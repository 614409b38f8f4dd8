import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SIGNAL_RULE_NAMES } from '../../src/terms/payout-signals.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
  unique,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const IBANS = ['DE89370400440532013000', 'GB29NWBK60161331926819', 'DE02120300000000202051'] as const;
const PEOPLE = 3;

const person = fc.nat({ max: PEOPLE - 1 });
const redirect = fc.record({
  act: fc.constant('redirect' as const),
  person,
  iban: fc.nat({ max: IBANS.length - 1 }),
});
/** A refund of this many percent of the last commission. */
const refund = fc.record({
  act: fc.constant('refund' as const),
  person,
  percent: fc.constantFrom(1, 50, 100),
});
const step = fc.oneof(redirect, refund);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const round = fc.record({
  amounts: fc.array(fc.constantFrom(0, 100, 1000, 5000, 40_000), { minLength: PEOPLE, maxLength: PEOPLE }),
  before: fc.array(redirect, { maxLength: 3 }),
  during: fc.array(step, { maxLength: 4 }),
});
const history = fc.record({
  ibans: fc.array(fc.nat({ max: 2 }), { minLength: PEOPLE, maxLength: PEOPLE }),
  rounds: fc.array(round, { minLength: 1, maxLength: 3 }),
});

const SETTINGS = {
  first_payout_above: { action: 'warn', amounts: { usd: 900 } },
  amount_above_history: { action: 'warn', times: 2, amounts: { usd: 500 } },
};
const OFF = Object.fromEntries(SIGNAL_RULE_NAMES.map((name) => [name, { action: 'off' }]));

const shown = (signals: Json[]) =>
  signals
    .map(({ rule, affiliate_id, currency, details, blocks }) =>
      JSON.stringify({ rule, affiliate_id, currency, details, blocks }),
    )
    .toSorted();

async function done(answer: ReturnType<Api['get']>): Promise<Json> {
  const { status, text, body } = await answer;
  expect(status, text).toBeLessThan(300);
  return body;
}

async function take(
  api: Api,
  ids: readonly number[],
  commissions: readonly (string | null)[],
  { act, ...step }: Step,
) {
  const id = ids[step.person] ?? 0;
  if (act === 'redirect' && 'iban' in step) {
    await done(
      api.put(`${AFFILIATES}/${id}/destination`, {
        type: 'sepa',
        account_holder: 'Ada Lovelace',
        iban: IBANS[step.iban],
      }),
    );
  }
  const commission = commissions[step.person];
  if (act === 'refund' && 'percent' in step && commission) {
    const { amount, voided_at } = await done(api.get(`${COMMISSIONS}/${commission}`));
    const part = voided_at === null ? Math.trunc((amount * step.percent) / 100) : 0;
    if (part > 0)
      await done(api.post(`${COMMISSIONS}/${commission}/refund`, { external_id: unique('r'), amount: part }));
  }
}

test('signals change no amount, and those of a changed payout are those of the same payout made again', async () => {
  await expectProperty({
    name: 'signals of payouts',
    arbitrary: history,
    cases: rounds(2, 6),
    check: async ({ ibans, rounds }, { note }) => {
      const api = await world.otherAccount();
      await done(api.patch('/v2/account', { payout_signals: SETTINGS }));
      const ids: number[] = [];
      for (const iban of ibans) {
        const { id } = await makeAffiliate(api);
        ids.push(id);
        await take(api, ids, [], { act: 'redirect', person: ids.length - 1, iban });
      }
      for (const { amounts, before, during } of rounds) {
        for (const each of before) await take(api, ids, [], each);
        const commissions: (string | null)[] = [];
        for (const [index, amount] of amounts.entries()) {
          commissions.push(amount === 0 ? null : (await makeCommission(api, ids[index] ?? 0, { amount })).id);
        }
        const { totals } = await done(api.post(`${PAYOUTS}/preview`));
        if (totals.length === 0) continue;
        let payout = await makePayout(api);
        for (const each of during) {
          note(JSON.stringify(each));
          await take(api, ids, commissions, each);
        }
        const current = await api.get(`${PAYOUTS}/current`);
        if (current.status === 404) continue;
        payout = current.body;
        const stored = await done(api.get(`${PAYOUTS}/${payout.id}/signals?is_ended=false&per_page=100`));
        await done(api.delete(`${PAYOUTS}/${payout.id}`));
        const again = await done(api.post(`${PAYOUTS}/preview/signals?per_page=100`));
        expect(shown(stored.data)).toEqual(shown(again.data));
        const withSignals = await done(api.post(`${PAYOUTS}/preview`));
        await done(api.patch('/v2/account', { payout_signals: OFF }));
        const without = await done(api.post(`${PAYOUTS}/preview`));
        await done(api.patch('/v2/account', { payout_signals: SETTINGS }));
        expect({ ...without, as_of: '' }).toEqual({ ...withSignals, as_of: '', signals: [] });
        await done(api.patch('/v2/account', { payout_signals: OFF }));
        await completePayout(api, await makePayout(api));
        await done(api.patch('/v2/account', { payout_signals: SETTINGS }));
      }
    },
  });
});
