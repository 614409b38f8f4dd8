import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { runHere } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import { isLong, rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import { useWorld } from '../support/world.ts';
import { CHANNELS, FATES, type Fate, fileOf, isReported, money, type Named } from './result-channels.ts';

const world = useWorld();
const machine = useMachine();

const AMOUNTS = [5000, 1234, 100_000] as const;

/** The fate of each line's payment, the channel whose file reports it, and other payments. */
const wish = fc.record({
  lines: fc.tuple(
    ...AMOUNTS.map(() =>
      fc.record({
        fate: fc.oneof(
          { weight: 3, arbitrary: fc.constant<Fate>('arrived') },
          { weight: 2, arbitrary: fc.constantFrom<Fate>('came back', 'refused') },
          { weight: 1, arbitrary: fc.constantFrom(...FATES) },
        ),
        channel: fc.constantFrom(...CHANNELS),
      }),
    ),
  ),
  more: fc.array(
    fc.record({
      line: fc.nat({ max: AMOUNTS.length - 1 }),
      fate: fc.constantFrom(...FATES),
      channel: fc.constantFrom(...CHANNELS),
      shift: fc.constantFrom(-1 as const, 0 as const, 1 as const),
      isExact: fc.boolean(),
    }),
    { maxLength: 1 },
  ),
  order: fc.shuffledSubarray([...CHANNELS], { minLength: CHANNELS.length }),
  /** A file that is given twice. */
  again: fc.constantFrom(...CHANNELS),
});

type Wish = typeof wish extends fc.Arbitrary<infer Value> ? Value : never;

test('whatever files complete a payout, a line is paid only by its own booking, and owed again only when no money can be on its way', async () => {
  const seen = { completed: 0, refused: 0, paid: 0, released: 0, returned: 0 };
  const check = async ({ lines, more, order, again }: Wish) => {
    const api = await world.otherAccount();
    await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
    const ids: number[] = [];
    for (const amount of AMOUNTS) {
      const account = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
      ids.push((await makePayee(api, account, { commission: { amount, currency: 'eur' } })).id);
    }
    const payout = await makePayout(api);
    const sent = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
    const [, message = ''] = /<MsgId>(.*?)</.exec(sent.text) ?? [];
    const own = lines.map((each, line) => ({ ...each, line, shift: 0 as const, isExact: true }));
    const all = [...own, ...more].map((each, index): Named => {
      const shift = each.channel === 'pain' ? 0 : each.shift;
      const reference = `P${payout.number}-A${ids[each.line]}`;
      return {
        ...{ ...each, shift, file: 0, id: `T${index}` },
        reference: each.isExact ? reference : `${reference}-${index}`,
        amount: money((AMOUNTS[each.line] ?? 0) + shift),
      };
    });
    const files = [...order, again].flatMap((channel) => {
      const inFile = all.filter((each) => each.channel === channel && isReported(each));
      const text = inFile.length === 0 ? null : fileOf(channel, inFile, message);
      if (text === null) return [];
      machine.write(channel, text);
      return ['--from', channel];
    });
    if (files.length === 0) return;
    const complete = () =>
      runHere(['payouts', 'complete', String(payout.number), ...files, '--yes'], {
        cwd: machine.folder,
        env: { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: api.key },
      });
    const ran = await complete();
    const after = (await api.get(`${PAYOUTS}/${payout.id}`)).body;
    if (ran.code !== 0) {
      seen.refused += 1;
      expect(after.status, ran.stderr).toBe('unpaid');
      return;
    }
    seen.completed += 1;
    for (const { affiliate_id, is_paid, returned_amount, totals } of after.affiliates) {
      const line = ids.indexOf(affiliate_id);
      const of = all.filter((each) => each.line === line && each.isExact && isReported(each));
      const shown = JSON.stringify({ is_paid, returned_amount, of });
      const has = (...fates: readonly Fate[]) => of.some(({ fate }) => fates.includes(fate));
      if (is_paid) {
        seen.paid += 1;
        expect(totals[0].paid_amount, shown).toBe(AMOUNTS[line]);
        expect(
          of.some(({ fate, shift }) => shift === 0 && (fate === 'arrived' || fate === 'came back')),
          shown,
        ).toBe(true);
      } else {
        seen.released += 1;
        expect(has('refused'), shown).toBe(true);
        expect(has('arrived', 'came back', 'open', 'something else'), shown).toBe(false);
      }
      if (returned_amount > 0) {
        seen.returned += 1;
        expect(has('came back'), shown).toBe(true);
        expect(has('open', 'something else'), shown).toBe(false);
      }
    }
    // the same files again book nothing
    const before = JSON.stringify(after.affiliates);
    const once = await complete();
    expect(once.code, once.stderr).toBe(0);
    expect(JSON.stringify((await api.get(`${PAYOUTS}/${payout.id}`)).body.affiliates)).toBe(before);
  };
  await expectProperty({ name: 'completion by files', arbitrary: wish, cases: rounds(2, 14), check });
  // the cases of a long run reach everything
  if (!isLong) return;
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
});
