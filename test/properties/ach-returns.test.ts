import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AFFILIATES, completePayout, type Json, makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { achReturns } from '../support/ach-returns.ts';
import { expectStatement } from '../support/balances.ts';
import { rounds } from '../support/depth.ts';
import { type NachaPayment, paymentsIn } from '../support/nacha.ts';
import { expectProperty } from '../support/properties.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const ORIGINATOR = {
  immediate_destination: '021000021',
  immediate_destination_name: 'JPMorgan Chase',
  immediate_origin: '1234567890',
  immediate_origin_name: 'Difference Engines',
  company_name: 'Difference Engin',
  company_id: '1234567890',
};
const CODES = ['R02', 'R03', 'R04', 'R20', 'R23'] as const;

interface Wish {
  readonly people: readonly { readonly amount: number; readonly isFirm: boolean }[];
  readonly rows: number;
  /** The files of the bank: the places of the payments that each returns. */
  readonly files: readonly (readonly number[])[];
  readonly code: (typeof CODES)[number];
}

const wish: fc.Arbitrary<Wish> = fc
  .array(fc.record({ amount: fc.integer({ min: 1, max: 5_000_000 }), isFirm: fc.boolean() }), {
    minLength: 2,
    maxLength: 6,
  })
  .chain((people) =>
    fc.record({
      people: fc.constant(people),
      rows: fc.integer({ min: 2, max: 4 }),
      files: fc.array(
        fc.subarray(
          people.map((_, place) => place),
          { minLength: 1 },
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
      code: fc.constantFrom(...CODES),
    }),
  );

test('returns of any payments, in files that overlap, are owed again once and keep the books', async () => {
  const check = async ({ people, rows, files, code }: Wish) => {
    const api = await world.otherAccount();
    const originator = { ...ORIGINATOR, rows_per_file: rows };
    expect((await api.patch('/v2/account', { originator })).status).toBe(200);
    for (const { amount, isFirm } of people)
      await makePayee(
        api,
        {
          type: 'ach',
          account_holder: 'Zoe Okafor',
          routing_number: '121042882',
          account_number: `00012345${amount}`,
          account_type: 'checking',
        },
        {
          commission: { amount, currency: 'usd' },
          affiliate: isFirm ? { legal_type: 'business' } : {},
        },
      );
    const payout = await makePayout(api);
    const parts = Math.ceil(people.length / rows);
    const payments: NachaPayment[] = [];
    for (let part = 1; part <= parts; part += 1) {
      const query = parts > 1 ? `?part=${part}` : '';
      const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/nacha${query}`);
      expect(file.status, file.text).toBe(200);
      payments.push(...paymentsIn(file.text));
    }
    await completePayout(api, payout);
    const back = new Set<string>();
    for (const places of files) {
      const returned = places.map((place) => payments[place] as NachaPayment);
      const proposal = await api.request('POST', `${PAYOUTS}/${payout.id}/results`, {
        body: achReturns(returned.map((payment) => ({ payment, code }))),
        headers: { 'content-type': 'application/octet-stream' },
      });
      expect(proposal.status, proposal.text).toBe(201);
      expect(proposal.body).toMatchObject({ problems: [], counts: { returned: places.length } });
      for (const line of proposal.body.lines.filter(({ is_booked }: Json) => !is_booked)) {
        expect(back.has(line.reference), line.reference).toBe(false);
        back.add(line.reference);
        const { affiliate_id, currency, amount, reason, bank_reference: reference } = line;
        const path = `${PAYOUTS}/${payout.id}/affiliates/${affiliate_id}/returned`;
        const booked = await api.post(path, { currency, amount, reason, reference });
        expect(booked.status, booked.text).toBe(200);
        expect((await api.post(path, { currency, amount, reason, reference })).reason).toBe(
          'already_returned',
        );
      }
    }
    for (const { reference, amount } of payments) {
      const id = reference.split('A')[1];
      const { body } = await api.get(`${AFFILIATES}/${id}`);
      const owed = body.balance.reduce((sum: number, { unpaid }: Json) => sum + unpaid, 0);
      expect(owed, reference).toBe(back.has(reference) ? amount : 0);
      await expectStatement(api, Number(id));
    }
  };
  await expectProperty({ name: 'ACH returns', arbitrary: wish, cases: rounds(2, 8), check });
});
