import { expect, test } from 'vitest';
import { isOnNode } from '../support/cell-of-file.ts';
import { IMBALANCES } from '../support/imbalances.ts';
import { before } from '../support/migrations.ts';
import { useWorld, type World } from '../support/world.ts';

const world = useWorld();

// number, affiliate of the line, currency, amount, of a payout; a paid one released what is not paid
const LINES = [
  [1, 'returned', 'usd', 1000, true],
  [1, 'voided', 'usd', 500, true],
  [1, 'two', 'usd', 300, true],
  [1, 'two', 'kwd', 4000, true],
  [1, 'released', 'usd', 700, false],
  [1, 'both back', 'usd', 110, true],
  [1, 'both back', 'kwd', 120, true],
  [2, 'returned', 'usd', 1000, null],
  [2, 'released', 'usd', 700, null],
] as const;

const totalOf = (currency: string, line: readonly number[]) => {
  const [
    amount,
    commission_count,
    affiliate_count,
    paid_amount,
    paid_count,
    released_amount,
    released_count,
  ] = line;
  return {
    ...{ currency, amount, commission_count, affiliate_count },
    ...{ paid_amount, paid_count, released_amount, released_count },
  };
};

/** What an earlier version would have stored: a paid payout with returned money, and an unpaid one. */
async function fill({ query }: World): Promise<void> {
  await query(`insert into accounts (name) values ('Shop')`);
  await query(`insert into payout_books (account_id, next_number) select id, 3 from accounts`);
  await query(
    `insert into affiliates (account_id, email)
     select id, unnest('{returned,voided,two,released,both back}'::text[]) from accounts`,
  );
  const payout = `insert into payouts (account_id, number, as_of, created_by, status, paid_by, paid_at, totals,
      affiliate_count, commission_count)
    select id, $1, now(), 'me', $2, $3, $4, $5, $6, $7 from accounts`;
  const paid = [totalOf('kwd', [4120, 2, 2, 4120, 2, 0, 0]), totalOf('usd', [2610, 5, 5, 1910, 4, 700, 1])];
  await query(payout, [1, 'paid', 'me', '2026-01-10', JSON.stringify(paid), 5, 7]);
  const unpaid = [totalOf('usd', [1700, 2, 2, 0, 0, 0, 0])];
  await query(payout, [2, 'unpaid', null, null, JSON.stringify(unpaid), 2, 2]);
  for (const [number, email, currency, amount, isPaid] of LINES) {
    const values = [number, email, currency, amount, isPaid];
    await query(
      `insert into payout_lines (account_id, payout_id, affiliate_id, is_paid, payment_reference, email,
         is_ready_for_payout)
       select p.account_id, p.id, a.id, $3, case when $3 then 'ref of ' || $2 end,
         case when p.status = 'paid' then a.email end, case when p.status = 'paid' then true end
       from payouts p, affiliates a where p.number = $1 and a.email = $2 on conflict do nothing`,
      [number, email, isPaid],
    );
    await query(
      `insert into payout_line_totals (account_id, payout_id, affiliate_id, currency, amount, commission_count)
       select p.account_id, p.id, a.id, $3, $4, 1 from payouts p, affiliates a where p.number = $1 and a.email = $2`,
      values.slice(0, 4),
    );
    if (number === 2) continue;
    await query(
      `insert into commissions (account_id, external_id, affiliate_id, payout_id, type, currency, amount,
         original_amount, occurred_at, available_at)
       select p.account_id, $2 || $3, a.id, case when $5 then p.id else (select id from payouts where number = 2) end,
         'sale', $3, $4, $4, now(), now()
       from payouts p, affiliates a where p.number = $1 and a.email = $2`,
      values,
    );
  }
  await bookReturn(world, 'returned', '2026-01-20', null);
  await bookReturn(world, 'voided', '2026-01-21', '2026-01-25');
  await bookReturn(world, 'both back', '2026-01-22', null);
  await query(
    `update commissions set payout_id = (select id from payouts where number = 2)
     where returns_payout_id is not null and amount = 1000`,
  );
  await query(
    `insert into commission_arrivals (account_id, count) select account_id, count(*) from commissions group by 1`,
  );
}

/** Returned money of a line; its adjustments were voided by hand, or not. */
async function bookReturn({ query }: World, email: string, at: string, voidedAt: string | null) {
  await query(
    `update payout_lines set returned_at = $2, return_reason = 'closed', return_reference = 'bank ' || $1
     where affiliate_id = (select id from affiliates where email = $1) and is_paid`,
    [email, at],
  );
  await query(
    `insert into commissions (account_id, external_id, affiliate_id, type, currency, amount, original_amount,
       occurred_at, available_at, returns_payout_id, voided_at)
     select t.account_id, 'payhook:returned:' || t.currency || t.affiliate_id, t.affiliate_id, 'adjustment', t.currency,
       t.amount, t.amount, $2, $2, t.payout_id, $3
     from payout_line_totals t join payouts p on p.id = t.payout_id
     where p.number = 1 and t.affiliate_id = (select id from affiliates where email = $1)`,
    [email, at, voidedAt],
  );
}

// the migrations of the earlier versions run before a schema is placed on a node
test.skipIf(isOnNode())(
  'payouts and returns of an earlier version show the same by line, and the books balance',
  async () => {
    await before(world, '0009_lines.sql', async (migrate) => {
      await fill(world);
      await migrate('all');
      const lines = await world.query<Record<string, unknown>>(
        `select concat_ws(' ', p.number, a.email, t.currency) as line, t.is_paid, t.payment_reference as reference,
         t.returned_amount::int as returned
       from payout_line_totals t join payouts p on p.id = t.payout_id join affiliates a on a.id = t.affiliate_id
       order by 1`,
      );
      const paid = (line: string, email: string, returned: number) => ({
        line,
        is_paid: true,
        reference: `ref of ${email}`,
        returned,
      });
      expect(lines).toEqual([
        paid('1 both back kwd', 'both back', 120),
        paid('1 both back usd', 'both back', 110),
        { line: '1 released usd', is_paid: false, reference: null, returned: 0 },
        paid('1 returned usd', 'returned', 1000),
        paid('1 two kwd', 'two', 0),
        paid('1 two usd', 'two', 0),
        // the void meant that nothing was returned
        paid('1 voided usd', 'voided', 0),
        { line: '2 released usd', is_paid: null, reference: null, returned: 0 },
        { line: '2 returned usd', is_paid: null, reference: null, returned: 0 },
      ]);
      expect(
        await world.query(
          `select a.email, r.currency, r.amount::int, r.reason, r.reference, to_char(r.returned_at, 'DD') as returned,
           to_char(r.undone_at, 'DD') as undone
         from payout_returns r join affiliates a on a.id = r.affiliate_id order by 1, 2`,
        ),
      ).toEqual(
        [
          ['both back', 'kwd', 120, '22', null],
          ['both back', 'usd', 110, '22', null],
          ['returned', 'usd', 1000, '20', null],
          ['voided', 'usd', 500, '21', '25'],
        ].map(([email, currency, amount, returned, undone]) => {
          return { email, currency, amount, reason: 'closed', reference: `bank ${email}`, returned, undone };
        }),
      );
      expect(
        await world.query(`select (totals -> 0 ->> 'carried_amount')::int as carried from payouts`),
      ).toEqual([{ carried: 0 }, { carried: 0 }]);
      expect(await world.query(IMBALANCES)).toEqual([]);
    });
  },
);

test.skipIf(isOnNode())(
  'payouts of an earlier version name the schedule whose last run created them',
  async () => {
    const { query } = world;
    await before(world, '0049_payout_schedule.sql', async (migrate) => {
      await query(`insert into accounts (name) values ('Shop'), ('Other')`);
      await query(
        `insert into payouts (account_id, number, as_of, created_by, status, paid_by, paid_at)
       select id, unnest('{1,2}'::int[]), now(), 'me', 'paid', 'me', now() from accounts`,
      );
      await query(
        `insert into payout_schedules (account_id, name, every, day, search, ignore_minimum, is_active, maker_kind, maker_id,
         next_on, last_on, last_at, last_outcome, last_payout_id)
       select p.account_id, 'of ' || a.name, 'month', 1, '', false, true, 'api_key', 'me', current_date, current_date, now(),
         'created', p.id
       from payouts p join accounts a on a.id = p.account_id where p.number = 2 and a.name = 'Shop'`,
      );
      await migrate();
      const payouts = await query(
        `select a.name, p.number::int, s.name as schedule from payouts p join accounts a on a.id = p.account_id
       left join payout_schedules s on s.account_id = p.account_id and s.id = p.schedule_id order by a.name, p.number`,
      );
      expect(payouts).toEqual([
        { name: 'Other', number: 1, schedule: null },
        { name: 'Other', number: 2, schedule: null },
        { name: 'Shop', number: 1, schedule: null },
        { name: 'Shop', number: 2, schedule: 'of Shop' },
      ]);
    });
  },
);
