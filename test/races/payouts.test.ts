import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { makeAffiliates, salesFor, sumOf, takeIn } from '../support/seed.ts';
import {
  ARENAS,
  allCommissions,
  COMMISSIONS,
  currentPayout,
  GAPS_MS,
  inArena,
  only,
  PAYOUTS,
  staggered,
  tally,
} from './support.ts';

// concurrent: they mostly wait for the latency
describe.concurrent.each(ARENAS)('$name', (arena) => {
  test('of twenty creates at once exactly one creates a payout; the others are refused with its id', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const affiliates = await makeAffiliates(api, 3);
      const sales = salesFor(affiliates, 12);
      await takeIn(api, sales);
      const answers = await race(() =>
        Promise.all(Array.from({ length: 20 }, (_, index) => racer(index).post(PAYOUTS))),
      );
      const made = only(answers, 201);
      expect(tally(answers)).toEqual({ 201: 1, 409: 19 });
      for (const refused of answers.filter(({ status }) => status === 409)) {
        expect(refused.reason).toBe('current_payout_exists');
        expect(refused.headers.get('location')).toBe(`${PAYOUTS}/${made.body.id}`);
        expect(refused.text).toContain(made.body.id);
      }
      expect(made.body).toMatchObject({ amount: sumOf(sales), commission_count: 12, affiliate_count: 3 });
      const events = await world.query(`select 1 from events where type = 'payout.created'`);
      expect(events).toHaveLength(1);
    }));

  test('of complete and delete at once one succeeds completely, and the other is refused', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const [first = 0, second = 0] = await makeAffiliates(api, 2);
      let paid = 0;
      for (const [round, gap] of GAPS_MS.entries()) {
        await takeIn(api, salesFor([first, second], 6, `round-${round}`));
        const before = (await api.post(PAYOUTS)).body;
        const one = `${PAYOUTS}/${before.id}`;
        const complete = () => racer(0).put(one, { commissions: [{ affiliate_id: first, is_paid: true }] });
        const remove = () => racer(1).delete(one);
        const works = round % 2 === 0 ? [complete, remove] : [remove, complete];
        const answers = await race(() => staggered(gap, ...works));
        const [completed, removed] = round % 2 === 0 ? answers : [answers[1], answers[0]];
        const after = await api.get(one);
        if (completed?.status === 200) {
          expect([removed?.status, removed?.reason]).toEqual([409, 'payout_is_paid']);
          expect(after.body).toMatchObject({ status: 'paid', amount: before.amount });
          paid += after.body.totals[0].paid_amount;
        } else {
          expect([completed?.status, removed?.status]).toEqual([404, 204]);
          expect(after.status).toBe(404);
        }
      }
      const commissions = await allCommissions(api);
      expect(sumOf(commissions.filter(({ is_paid }) => is_paid))).toBe(paid);
      expect(commissions.every(({ is_paid, payout_id }) => is_paid === (payout_id !== null))).toBe(true);
    }));

  test('of two completes at once one decides, and nothing of the other is in it', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const [first = 0, second = 0] = await makeAffiliates(api, 2);
      for (const [round, gap] of GAPS_MS.entries()) {
        await takeIn(api, salesFor([first, second], 6, `round-${round}`));
        const one = `${PAYOUTS}/${(await api.post(PAYOUTS)).body.id}`;
        const complete = (by: number, pays: number) => () =>
          racer(by).put(one, {
            commissions: [{ affiliate_id: pays, is_paid: true, payment_reference: `by ${by}` }],
          });
        const answers = await race(() => staggered(gap, complete(0, first), complete(1, second)));
        const winner = only(answers, 200);
        expect(only(answers, 409).reason).toBe('payout_is_paid');
        const by = answers.indexOf(winner);
        const payee = by === 0 ? first : second;
        const { unlisted_affiliate_count, unlisted_line_count: _, ...record } = winner.body;
        expect(unlisted_affiliate_count).toBe(1);
        expect((await api.get(one)).body).toEqual(record);
        for (const line of record.affiliates) {
          expect(line.is_paid).toBe(line.affiliate_id === payee);
          expect(line.payment_reference).toBe(line.affiliate_id === payee ? `by ${by}` : null);
        }
      }
    }));

  test('a create in a stream of commissions takes or leaves each whole: none is lost', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const affiliates = await makeAffiliates(api, 4);
      await takeIn(api, salesFor(affiliates, 8, 'before'));
      const sales = salesFor(affiliates, 40, 'stream');
      const made = await race(async () => {
        const rest = [...sales];
        const stream = async (by: number) => {
          for (let sale = rest.shift(); sale; sale = rest.shift()) {
            const taken = await racer(by).post(COMMISSIONS, sale);
            expect(taken.status, taken.text).toBe(201);
          }
        };
        const [payout] = await Promise.all([
          racer(1).post(PAYOUTS),
          ...Array.from({ length: 5 }, (_, by) => stream(by)),
        ]);
        return payout.body;
      });
      const commissions = await allCommissions(api);
      expect(commissions).toHaveLength(48);
      const inside = commissions.filter(({ payout_id }) => payout_id === made.id);
      expect(made.commission_count).toBe(inside.length);
      expect(made.amount).toBe(sumOf(inside));
      for (const line of made.affiliates) {
        const own = inside.filter(({ affiliate_id }) => affiliate_id === line.affiliate_id);
        expect(line.totals[0].amount).toBe(sumOf(own));
      }
      // nothing is on hold here: commissions too late for the first payout are in the next
      expect(made.excluded).toEqual([]);
      await api.put(`${PAYOUTS}/${made.id}`, {
        commissions: affiliates.map((affiliate_id) => ({ affiliate_id, is_paid: true })),
      });
      const next = await api.post(PAYOUTS);
      const taken = next.status === 201 ? next.body.commission_count : 0;
      expect(made.commission_count + taken).toBe(48);
    }));

  longRun.test(
    'a payout created while a destination changes shows the new one, and publishes an event if it had the old',
    () =>
      inArena(arena, async ({ api, racer, race, world }) => {
        const [affiliate = 0] = await makeAffiliates(api, 1);
        await takeIn(api, salesFor([affiliate], 3));
        for (const [round, gap] of GAPS_MS.entries()) {
          const paypal_email = `round-${round}@example.com`;
          const create = () => racer(0).post(PAYOUTS);
          const change = () => racer(1).patch(`/v2/affiliates/${affiliate}`, { paypal_email });
          const works = round % 2 === 0 ? [create, change] : [change, create];
          const answers = await race(() => staggered(gap, ...works));
          const made = only(answers, 201).body;
          expect(only(answers, 200).body.paypal_email).toBe(paypal_email);
          const after = await currentPayout(api);
          expect(after.affiliates[0].paypal_email).toBe(paypal_email);
          const events = await world.query<{ payload: string }>(
            `select payload from events where type = 'payout.updated' and payload like '%' || $1 || '%'`,
            [made.id],
          );
          const hadTheOld = made.affiliates[0].paypal_email !== paypal_email;
          expect([after.revision, events.length]).toEqual(hadTheOld ? [2, 1] : [1, 0]);
          expect((await api.delete(`${PAYOUTS}/${made.id}`)).status).toBe(204);
        }
      }),
  );

  test('a complete while a destination changes permanently freezes one of the two', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const [affiliate = 0] = await makeAffiliates(api, 1);
      for (const [round, gap] of GAPS_MS.entries()) {
        await takeIn(api, salesFor([affiliate], 3, `round-${round}`));
        const before = (await api.post(PAYOUTS)).body;
        const one = `${PAYOUTS}/${before.id}`;
        const paypal_email = `round-${round}@example.com`;
        const complete = () =>
          racer(0).put(one, { commissions: [{ affiliate_id: affiliate, is_paid: true }] });
        const change = () => racer(1).patch(`/v2/affiliates/${affiliate}`, { paypal_email });
        const works = round % 2 === 0 ? [complete, change] : [change, complete];
        const answers = await race(() => staggered(gap, ...works));
        expect(tally(answers)).toEqual({ 200: 2 });
        const completed = answers[works.indexOf(complete)]?.body;
        const frozen = completed.affiliates[0].paypal_email;
        const old = before.affiliates[0].paypal_email;
        expect([old, paypal_email]).toContain(frozen);
        // a change before the complete is a revision of its own; one after it is none
        expect(completed.revision).toBe(frozen === old ? 2 : 3);
        const file = (await api.get(`${one}/download`)).text;
        expect(file).toContain(frozen);
        await api.patch(`/v2/affiliates/${affiliate}`, { paypal_email: 'later@example.com' });
        const { unlisted_affiliate_count, unlisted_line_count: _, ...record } = completed;
        expect((await api.get(one)).body).toEqual(record);
        expect((await api.get(`${one}/download`)).text).toBe(file);
        const updates = await world.query(
          `select 1 from events where type = 'payout.updated' and payload like '%' || $1 || '%'`,
          [before.id],
        );
        expect(updates).toHaveLength(frozen === old ? 0 : 1);
      }
    }));

  test('a complete with If-Match never pays a destination that its caller has not seen', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const [affiliate = 0] = await makeAffiliates(api, 1);
      for (const [round, gap] of GAPS_MS.entries()) {
        await takeIn(api, salesFor([affiliate], 3, `round-${round}`));
        const before = await api.post(PAYOUTS);
        const one = `${PAYOUTS}/${before.body.id}`;
        const seen = before.body.affiliates[0].paypal_email;
        const tag = before.headers.get('etag') ?? '';
        const paypal_email = `round-${round}@example.com`;
        const change = () => racer(1).patch(`/v2/affiliates/${affiliate}`, { paypal_email });
        const complete = () =>
          racer(0).put(
            one,
            { commissions: [{ affiliate_id: affiliate, is_paid: true }] },
            { 'if-match': tag },
          );
        const [, completed] = await race(() => staggered(gap, change, complete));
        if (completed?.status === 200) {
          expect(completed.body.affiliates[0].paypal_email).toBe(seen);
        } else {
          expect([completed?.status, completed?.reason]).toEqual([409, 'payout_changed']);
          expect((await api.delete(one)).status).toBe(204);
        }
      }
    }));

  longRun.test('of delete and create at once the create happens after the delete or is refused', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const affiliates = await makeAffiliates(api, 2);
      const sales = salesFor(affiliates, 6);
      await takeIn(api, sales);
      for (const [round, gap] of GAPS_MS.entries()) {
        const before = await currentPayout(api).then(
          async (payout) => payout ?? (await api.post(PAYOUTS)).body,
        );
        const remove = () => racer(0).delete(`${PAYOUTS}/${before.id}`);
        const create = () => racer(1).post(PAYOUTS);
        const works = round % 2 === 0 ? [remove, create] : [create, remove];
        const answers = await race(() => staggered(gap, ...works));
        only(answers, 204);
        const made = answers[works.indexOf(create)];
        const current = await currentPayout(api);
        const commissions = await allCommissions(api);
        if (made?.status === 201) {
          expect(current).toEqual(made.body);
          expect(made.body).toMatchObject({ amount: sumOf(sales), commission_count: 6 });
          expect(commissions.every(({ payout_id }) => payout_id === made.body.id)).toBe(true);
        } else {
          expect([made?.status, made?.reason]).toEqual([409, 'current_payout_exists']);
          expect(current).toBeNull();
          expect(commissions.every(({ payout_id }) => payout_id === null)).toBe(true);
        }
      }
    }),
  );

  longRun.test(
    'an affiliate who becomes inactive during a create is inside whole or left out with the reason',
    () =>
      inArena(arena, async ({ api, racer, race }) => {
        const [first = 0, second = 0] = await makeAffiliates(api, 2);
        const sales = salesFor([first, second], 6);
        await takeIn(api, sales);
        for (const gap of GAPS_MS) {
          await api.patch(`/v2/affiliates/${first}`, { status: 'active' });
          const [, made] = await race(() =>
            staggered(
              gap,
              () => racer(0).patch(`/v2/affiliates/${first}`, { status: 'inactive' }),
              () => racer(1).post(PAYOUTS),
            ),
          );
          const own = sales.filter(({ affiliate_id }) => affiliate_id === first);
          const line = made?.body.affiliates.find(
            (one: { affiliate_id: number }) => one.affiliate_id === first,
          );
          if (line) expect(line.totals[0].amount).toBe(sumOf(own));
          else {
            expect(made?.body.excluded).toMatchObject([
              { reason: 'affiliate_inactive', affiliate_count: 1, totals: [{ amount: sumOf(own) }] },
            ]);
          }
          expect((await api.delete(`${PAYOUTS}/${made?.body.id}`)).status).toBe(204);
        }
      }),
  );
});
