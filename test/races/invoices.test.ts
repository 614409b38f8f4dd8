import { describe, expect, test } from 'vitest';
import { agree, letInvoice } from '../support/invoicing.ts';
import { makeAffiliates, takeIn } from '../support/seed.ts';
import { ARENAS, GAPS_MS, inArena, PAYOUTS, staggered, tally } from './support.ts';

const INVOICES = '/v2/affiliates/invoices';

// the books are checked at the end of each arena: numbers without a gap, invoices that match their payments and are
// kept
describe.concurrent.each(ARENAS)('$name', (arena) => {
  test('with concurrent issues and returns, each line has its documents once', () =>
    inArena(arena, async ({ api, racer, race }) => {
      await letInvoice(api);
      const affiliates = await makeAffiliates(api, 3);
      for (const each of affiliates) await agree(api, each);
      for (const [round, gap] of GAPS_MS.entries()) {
        await takeIn(
          api,
          affiliates.map((affiliate_id) => ({
            external_id: `${round}-${affiliate_id}`,
            affiliate_id,
            amount: 11_900,
            currency: 'eur',
          })),
        );
        const { body: payout } = await api.post(PAYOUTS);
        const path = `${PAYOUTS}/${payout.id}`;
        const commissions = affiliates.map((affiliate_id) => ({ affiliate_id, is_paid: true }));
        expect((await api.put(path, { commissions })).status).toBe(200);
        const issue = (by: number) => () => racer(by).post(`${path}/invoices`);
        const back = () =>
          racer(1).post(`${path}/affiliates/${affiliates[0]}/returned`, { reason: 'closed', amount: 1190 });
        const answers = await race(() => staggered(gap, issue(0), back, issue(1), issue(0)));
        expect(tally(answers)).toEqual({ 200: 4 });
        const issued = answers.filter(({ body }) => body.object === 'issued_invoices');
        expect(issued.map(({ body }) => body.issued).sort()).toEqual([0, 0, 3]);
        const { body: list } = await api.get(`${INVOICES}?payout_id=${payout.id}&kind=invoice`);
        expect(list.pagination.total).toBe(3);
      }
    }));
});
