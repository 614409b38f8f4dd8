import { expect } from 'vitest';
import type { ReportEntry, ReportSummary } from '../../src/client/api.ts';
import type { Api } from './api.ts';
import type { World } from './world.ts';

/** Something that changed what an affiliate is owed, read from the records. */
interface Movement {
  readonly kind: 'earned' | 'adjusted' | 'refunded' | 'voided' | 'paid' | 'returned';
  readonly affiliate: string;
  readonly country: string | null;
  readonly program: string | null;
  /** Of a payment or a return. */
  readonly method: string | null;
  readonly currency: string;
  /** The local day. */
  readonly day: string;
  readonly amount: number;
}

const KINDS = ['earned', 'adjusted', 'refunded', 'voided', 'paid', 'returned'] as const;
const SIGNS = { earned: 1, adjusted: 1, refunded: -1, voided: -1, paid: -1, returned: 1 };
const CASH = new Set<string>(['paid', 'returned']);
/** The groupings, the group of a movement in each, and whether it has a figure. */
const GROUPINGS = {
  currency: [(each: Movement) => each.currency, () => true],
  affiliate: [(each: Movement) => each.affiliate, () => true],
  country: [(each: Movement) => each.country, () => true],
  method: [(each: Movement) => each.method, (figure: string) => CASH.has(figure)],
  program: [
    (each: Movement) => each.program,
    (figure: string) => !CASH.has(figure) && figure !== 'opening' && figure !== 'closing',
  ],
} as const;
type Grouping = keyof typeof GROUPINGS;
export const BY = Object.keys(GROUPINGS) as Grouping[];

async function movementsOf(world: World, api: Api): Promise<Movement[]> {
  const { id } = (await api.get('/v2/account')).body;
  return world.query<Movement & Record<string, unknown>>(
    `with own as (select * from accounts where public_id('acc', id) = $1),
      c as (select c.* from commissions c, own where c.account_id = own.id and c.type <> 'clawback'
              and c.returns_payout_id is null and (c.external_id like 'payhook:undone:%') is not true),
      line as (select t.*, coalesce(d.type, l.payout_method, case when l.paypal_email is not null then 'paypal' end) as method
               from own join payout_line_totals t on t.account_id = own.id
               join payout_lines l using (account_id, payout_id, affiliate_id)
               left join affiliate_destinations d on d.account_id = t.account_id and d.id = t.destination_id),
      movement as (
        select case type when 'adjustment' then 'adjusted' else 'earned' end as kind, affiliate_id, program_id, null as method,
               currency, occurred_at as at, original_amount as amount from c
        union all
        select 'voided', affiliate_id, program_id, null, currency, voided_at, original_amount - refunded_amount
        from c where voided_at is not null
        union all
        select 'refunded', c.affiliate_id, c.program_id, null, c.currency, r.occurred_at, i.amount
        from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
        join c on c.account_id = i.account_id and c.id = i.commission_id where r.status <> 'reversed'
        union all
        select 'paid', affiliate_id, null, method, currency, paid_at, amount - carried_amount
        from line join payouts p on p.account_id = line.account_id and p.id = payout_id where is_paid
        union all
        select 'returned', r.affiliate_id, null, line.method, r.currency, at, sign * r.amount
        from own join payout_returns r on r.account_id = own.id
        join line using (payout_id, affiliate_id, currency)
        cross join lateral (values (1, returned_at), (-1, undone_at)) t (sign, at) where at is not null)
     select kind, affiliate_id::text as affiliate, a.country, m.program_id::text as program, method, m.currency,
            to_char(at at time zone own.time_zone, 'YYYY-MM-DD') as day, amount::int
     from movement m cross join own join affiliates a on a.account_id = own.id and a.id = m.affiliate_id`,
    [id],
  );
}

/** The rows that a report must have, by group and currency. */
function rowsOf(movements: readonly Movement[], by: Grouping, from: string, to: string) {
  const [groupOf, has] = GROUPINGS[by];
  const groups = new Map<string, Record<string, number>>();
  for (const each of movements) {
    if (each.day > to || (!has('paid') && CASH.has(each.kind)) || (!has('earned') && !CASH.has(each.kind)))
      continue;
    const key = JSON.stringify([groupOf(each), each.currency]);
    const sums =
      groups.get(key) ?? Object.fromEntries(['opening', ...KINDS, 'closing'].map((name) => [name, 0]));
    groups.set(key, sums);
    const effect = SIGNS[each.kind] * each.amount;
    sums.closing = (sums.closing ?? 0) + effect;
    const figure = each.day < from ? 'opening' : each.kind;
    sums[figure] = (sums[figure] ?? 0) + (figure === 'opening' ? effect : each.amount);
  }
  const shown = [...groups].map(([key, sums]) => {
    const figures = Object.entries(sums).map(([name, sum]) => [`${name}_amount`, has(name) ? sum : null]);
    return [key, Object.fromEntries(figures)] as const;
  });
  return Object.fromEntries(shown.filter(([, sums]) => Object.values(sums).some((sum) => sum)));
}

const keyed = (rows: readonly ReportSummary['rows'][number][]) =>
  Object.fromEntries(
    rows.map(({ key, name: _, currency, ...figures }) => [JSON.stringify([key, currency]), figures]),
  );

/** Checks that reports by every grouping show the sums of the records, for the days from one to another, both included. */
export async function expectReports(
  world: World,
  api: Api,
  periods: readonly (readonly [from: string, to: string])[],
): Promise<void> {
  const movements = await movementsOf(world, api);
  for (const [from, to] of periods) {
    for (const by of BY) {
      const answer = await api.get(`/v2/reports/summary?by=${by}&from=${from}&to=${to}&per_page=1000`);
      expect(answer.status, answer.text).toBe(200);
      const { rows, totals } = answer.body as ReportSummary;
      const title = `by ${by} from ${from} to ${to}`;
      expect(keyed(rows), title).toEqual(rowsOf(movements, by, from, to));
      expect(keyed(totals.map((total) => ({ key: total.currency, name: null, ...total }))), title).toEqual(
        rowsOf(movements, 'currency', from, to),
      );
      for (const row of rows) {
        const { opening_amount, closing_amount, ...figures } = row;
        if (opening_amount === null || closing_amount === null) continue;
        const changes = KINDS.map((kind) => SIGNS[kind] * Number(figures[`${kind}_amount`]));
        expect(opening_amount + changes.reduce((sum, change) => sum + change, 0), title).toBe(closing_amount);
      }
    }
  }
}

/** The filters of the entries of a group. */
const ENTRIES_OF: Readonly<Record<Grouping, (key: string | null) => Record<string, string>>> = {
  currency: () => ({}),
  affiliate: (key) => ({ affiliate_id: String(key) }),
  country: (key) => ({ country: key ?? 'none' }),
  method: (key) => ({ payout_method: key ?? 'none' }),
  program: (key) => (key === null ? { has_program: 'false' } : { program_id: key }),
};

/** Checks that the entries of every amount add up to it, in reports by every grouping. */
export async function expectEntries(
  api: Api,
  periods: readonly (readonly [from: string, to: string])[],
): Promise<void> {
  const sumOf = async (filters: Record<string, string>): Promise<number> => {
    let sum = 0;
    let after: string | null = null;
    do {
      const query = new URLSearchParams({
        ...filters,
        per_page: '100',
        ...(after === null ? {} : { after }),
      });
      const { status, text, body } = await api.get(`/v2/reports/summary/entries?${query}`);
      expect(status, text).toBe(200);
      for (const entry of body.data as ReportEntry[]) sum += entry.amount;
      after = body.pagination.next;
    } while (after !== null);
    return sum;
  };
  for (const [from, to] of periods)
    for (const by of BY) {
      const { body } = await api.get(`/v2/reports/summary?by=${by}&from=${from}&to=${to}&per_page=1000`);
      for (const row of (body as ReportSummary).rows) {
        const of = { ...ENTRIES_OF[by](row.key), currency: row.currency };
        const title = JSON.stringify({ by, from, to, ...of });
        for (const kind of KINDS) {
          const amount = row[`${kind}_amount`];
          if (amount === null) continue;
          expect(SIGNS[kind] * (await sumOf({ ...of, kind, from, to })) + 0, `${kind} ${title}`).toBe(amount);
        }
        if (row.closing_amount !== null) expect(await sumOf({ ...of, to }), title).toBe(row.closing_amount);
      }
    }
}
