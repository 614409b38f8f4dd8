import { beforeAll, expect, test } from 'vitest';
import { uuidOf } from '../delivery/support.ts';
import { isOnNode } from '../support/cell-of-file.ts';
import { keepHouse } from '../support/chores.ts';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { AFFILIATES, PROGRAMS } from './fixtures.ts';

const world = useWorld();
/** More affiliates than are sorted at once, and pages close to either end. */
const MANY = 6000;
const UNPAID = `coalesce((select sum(amount) from commissions c
  where c.account_id = a.account_id and c.affiliate_id = a.id and c.currency = 'usd' and c.payout_id is null
    and c.voided_at is null and c.available_at <= now()), 0)`;
const IN_PROGRAM = (program: number) => `exists (select from commissions c
  where c.account_id = a.account_id and c.affiliate_id = a.id and c.program_id = ${program})`;

let account: string;
let [large, small]: number[] = [];
/** Balances that the planner has statistics of after they were folded. */
let known = 0;

/** Commissions for every n-th affiliate, with the notes that the API writes for them. */
const earn = (every: number, program: number | undefined, available = "now() - interval '1 day'") =>
  world.query(
    `with made as (
       insert into commissions (account_id, external_id, affiliate_id, program_id, type, currency, amount, original_amount,
         occurred_at, available_at)
       select $1, 'c-' || gen_random_uuid(), id, $3, 'adjustment', case when id % 3 = 0 then 'eur' else 'usd' end, s, s,
              '2025-01-01', ${available}
       from affiliates cross join lateral (select (id * 7919 % 41 - 15) * 100 + 7 as s) s
       where account_id = $1 and id % $2 = 0 returning *),
     arrived as (insert into commission_arrivals (account_id, count) select $1, count(*) from made)
     insert into affiliate_balance_notes (account_id, affiliate_id, currency, program_id, available_at, owed, paid)
     select account_id, affiliate_id, currency, program_id, available_at, amount, 0 from made`,
    [account, every, program ?? null],
  );

beforeAll(async () => {
  account = uuidOf((await world.api.get('/v2/account')).body.id);
  for (const name of ['Large', 'Small']) await world.api.post(PROGRAMS, { name });
  [large, small] = (await world.api.get(`${PROGRAMS}?sort=id`)).body.data.map(({ id }: { id: number }) => id);
  await world.query(
    `insert into affiliates (account_id, email, paypal_email, payout_method, name_first, is_ready_for_payout)
     select $1, 'order-' || n || '@example.com', case when n % 40 > 0 then 'p-' || n || '@example.com' end,
            case n % 4 when 0 then 'paypal' when 1 then 'wise' end, case when n % 8 = 1 then 'Ada' end, n % 500 > 0
     from generate_series(1, ${MANY}) n`,
    [account],
  );
  await earn(2, large);
  await earn(5, undefined);
  await earn(7, large, "now() + interval '300 days'");
  await earn(400, small);
  await keepHouse(world, 'affiliate balances');
  [{ known }] = (await world.query<{ known: number }>(
    "select reltuples::int as known from pg_class where oid = 'affiliate_balances'::regclass",
  )) as [{ known: number }];
  // not folded yet
  await earn(900, small);
  await earn(1000, undefined);
  await world.query('analyze affiliates, affiliate_balances, commissions');
});

// on a node of Citus, the planner is that of the node
test.skipIf(isOnNode())('once many balances are folded, the planner knows their number', () => {
  expect(known).toBeGreaterThan(MANY / 2);
});

const FILTERS: readonly (readonly [query: string, condition: () => string])[] = [
  ['', () => 'true'],
  ['status=active', () => "status = 'active'"],
  ['is_ready_for_payout=false', () => 'not is_ready_for_payout'],
  [
    'has_destination=false',
    () =>
      "case coalesce(payout_method, 'paypal') when 'wise' then name_first is null else paypal_email is null end",
  ],
  ['program_id=LARGE', () => IN_PROGRAM(large ?? 0)],
  ['program_id=SMALL', () => IN_PROGRAM(small ?? 0)],
  ['program_id=LARGE&payout_method=wise', () => `${IN_PROGRAM(large ?? 0)} and payout_method = 'wise'`],
];

test.each(someOf(FILTERS, 3))(
  'affiliates (%s) sorted by unpaid amount match a plain query on every page',
  async (query, condition) => {
    const given = query.replace('LARGE', String(large)).replace('SMALL', String(small));
    for (const sort of someOf(['unpaid', '-unpaid', '-id'], 2)) {
      const direction = sort.startsWith('-') ? 'desc' : 'asc';
      const order = sort === '-id' ? 'a.id desc' : `${UNPAID} ${direction}, a.id ${direction}`;
      const plain = await world.query<{ id: string }>(
        `select a.id from affiliates a where account_id = $1 and ${condition()} order by ${order}`,
        [account],
      );
      const expected = plain.map(({ id }) => Number(id));
      const pages = Math.ceil(expected.length / 100);
      const checked = new Set([
        1,
        2,
        11,
        12,
        pages >> 1,
        (pages >> 1) + 1,
        pages - 10,
        pages - 1,
        pages,
        pages + 1,
      ]);
      for (const page of [...checked].filter((number) => number > 0)) {
        const { body } = await world.api.get(`${AFFILIATES}?per_page=100&sort=${sort}&page=${page}&${given}`);
        const ids = body.data.map(({ id }: { id: number }) => id);
        expect(ids, `${sort}, page ${page}`).toEqual(expected.slice((page - 1) * 100, page * 100));
        expect(body.pagination).toMatchObject({ total: expected.length, pages });
        if (page >= pages) {
          expect(body.pagination.next).toBeNull();
          continue;
        }
        const after = await world.api.get(
          `${AFFILIATES}?per_page=100&after=${encodeURIComponent(body.pagination.next)}&${given}`,
        );
        expect(after.body.data.map(({ id }: { id: number }) => id)).toEqual(
          expected.slice(page * 100, (page + 1) * 100),
        );
      }
    }
  },
);
