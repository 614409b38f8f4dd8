import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';

/** What `seedCommissions` makes. */
export interface CommissionSeed {
  readonly account: string;
  readonly count: number;
  /** Spread over these many affiliates, which `seedAffiliates` made. */
  readonly affiliates: number;
  /** SQL over the row number `g` (1 to count) and the array of payouts `p.ids`. */
  readonly payout?: string;
  readonly availableAt?: string;
  readonly voidedAt?: string;
  /** Days until now over which they are spread evenly. */
  readonly days?: number;
}

/** Empties the money tables, so that every measurement starts without dead rows. */
export async function emptyBooks(client: pg.Client): Promise<void> {
  await client.query('truncate commissions, payouts cascade');
}

/** Makes affiliates `aff-1` … of an account. */
export async function seedAffiliates(client: pg.Client, account: string, count: number): Promise<void> {
  await client.query(
    `insert into affiliates (account_id, external_id, email, name_first, name_last, paypal_email, payout_method)
     select $1, 'aff-' || g, 'affiliate' || g || '@example.com', 'Given' || g, 'Family' || g,
            'pay' || g || '@example.com', 'paypal'
     from generate_series(1, $2::int) g`,
    [account, count],
  );
}

/**
 * Makes commissions in the order of their ids. Foreign keys are not checked meanwhile: the rows are right by
 * construction, and a million look-ups less make a seed several times faster.
 */
export async function seedCommissions(client: pg.Client, seed: CommissionSeed): Promise<void> {
  await client.query('begin');
  await client.query('set local session_replication_role = replica');
  await client.query(
    `insert into commissions (account_id, external_id, affiliate_id, payout_id, type, currency, amount,
       original_amount, sale_amount, rate_bps, order_id, customer_email, product_id, product_name, occurred_at,
       available_at, voided_at)
     select $1, 'ext-' || g, a.ids[1 + g % $3], ${seed.payout ?? 'null::uuid'}, 'sale',
            case when g % $3 % 3 = 0 then 'eur' else 'usd' end, 100 + g::int8 * 7919 % 5000, 100 + g::int8 * 7919 % 5000,
            10 * (100 + g::int8 * 7919 % 5000), 1000, 'order-' || g, 'customer' || g % 5000 || '@example.org',
            'plan-' || g % 20, 'Plan number ' || g % 20, t.at, ${seed.availableAt ?? 't.at'}, ${seed.voidedAt ?? 'null'}
     from generate_series(1, $2::int) g
     cross join (select array_agg(id order by id) as ids from affiliates where account_id = $1) a
     cross join (select array_agg(id order by id) as ids from payouts where account_id = $1) p
     cross join lateral (select now() - $4 * interval '1 day' * (1 - g / ($2 + 1.0)) as at) t
     order by g`,
    [seed.account, seed.count, seed.affiliates, seed.days ?? 90],
  );
  await client.query('insert into commission_arrivals (account_id, count) values ($1, $2)', [
    seed.account,
    seed.count,
  ]);
  await client.query('commit');
}

/** Makes payouts of an account; all but the last are paid. */
export async function seedPayouts(client: pg.Client, account: string, count: number): Promise<void> {
  await client.query(
    `insert into payouts (account_id, number, status, as_of, created_by, paid_by, paid_at)
     select $1, g, case when g < $2 then 'paid' else 'unpaid' end, now(), 'bench',
            case when g < $2 then 'bench' end, case when g < $2 then now() end
     from generate_series(1, $2::int) g order by g`,
    [account, count],
  );
}

/** Writes lines, totals and sums of seeded payouts from the commissions that are in them. */
export async function sumPayouts(client: pg.Client, account: string): Promise<void> {
  await client.query(
    `insert into payout_lines (account_id, payout_id, affiliate_id)
     select distinct account_id, payout_id, affiliate_id
     from commissions where account_id = $1 and payout_id is not null`,
    [account],
  );
  await client.query(
    `insert into payout_line_totals (account_id, payout_id, affiliate_id, currency, amount, commission_count, is_paid)
     select account_id, payout_id, affiliate_id, currency, sum(amount), count(*), nullif(p.status = 'paid', false)
     from commissions c join payouts p using (account_id)
     where account_id = $1 and payout_id = p.id group by 1, 2, 3, 4, p.status`,
    [account],
  );
  await client.query(
    `update payouts p set (totals, affiliate_count, commission_count) = (
       select json_agg(json_build_object('currency', currency, 'amount', amount, 'commission_count', commissions,
                'affiliate_count', affiliates, 'paid_amount', case when p.status = 'paid' then amount else 0 end,
                'paid_count', case when p.status = 'paid' then commissions else 0 end,
                'carried_amount', 0, 'released_amount', 0, 'released_count', 0) order by currency),
              max(affiliates), sum(commissions)
       from (select currency, sum(amount)::int8 as amount, sum(commission_count)::int8 as commissions,
                    count(*) as affiliates
             from payout_line_totals t where t.account_id = p.account_id and t.payout_id = p.id group by 1) s)
     where account_id = $1`,
    [account],
  );
}

/** Another account with payout books. Returns its UUID. */
export async function seedAccount(client: pg.Client, name: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    'insert into accounts (name) values ($1) returning id',
    [name],
  );
  const id = rows[0]?.id ?? '';
  await client.query('insert into payout_books (account_id) values ($1)', [id]);
  return id;
}

/** Statistics and visibility as autovacuum would leave them, and no checkpoint in the middle of a measurement. */
export async function settle(client: pg.Client): Promise<void> {
  await client.query('vacuum (analyze) commissions, affiliate_balances');
  await client.query('analyze affiliates, payouts, payout_lines, payout_line_totals');
  await client.query('checkpoint');
}

/** Empties the log and the queue, and forgets what workers learned of the endpoints. */
export async function emptyDeliveries(client: pg.Client): Promise<void> {
  await client.query(
    `truncate events, event_owners, event_tags, deliveries, attempts, queue, delivery_counts, delivery_count_deltas,
       attempt_counts`,
  );
  await client.query(
    `update endpoint_state set lane = default, may_start_at = default, failing_since = null, failures = default,
       last_success_at = null`,
  );
}

/** Members of `data` that make a payload of about 1 KB, as JSON text. */
export const EVENT_FILLER = Array.from(
  { length: 8 },
  (_, index) => `"field_${index}":"${`a message of a platform to its merchants, part ${index} `.repeat(2)}"`,
).join(',');

/**
 * Makes events as `publish` stores them, each with a delivery due now at some endpoints of the account, in
 * turn: the first `endpoints` of them by id.
 */
export async function seedDeliveries(
  client: pg.Client,
  seed: { account: string; events: number; fanOut: number; endpoints: number },
): Promise<void> {
  await client.query(
    `with made as materialized (select g, new_id() as id from generate_series(1, $2::int) g),
     stored as (
       insert into events (account_id, id, type, payload)
       select $1, id, 'bench.happened',
              concat('{"id":"', public_id('evt', id), '","object":"event","type":"bench.happened","timestamp":"',
                     iso(id_time(id)), '","account_id":"', public_id('acc', $1), '","api_version":"2.0.0",',
                     '"data":{"number":', g, ',', $5::text, '}}')
       from made),
     wanted as materialized (
       select made.id, ids[1 + ((g - 1) * $3 + k) % $4] as endpoint_id, g, k
       from made cross join generate_series(0, $3::int - 1) k
       cross join (select array_agg(id order by id) as ids from webhook_endpoints where account_id = $1) e),
     logged as (
       insert into deliveries (account_id, endpoint_id, event_id, type, next_attempt_at)
       select $1, endpoint_id, id, 'bench.happened', now_ms() from wanted),
     counted as (
       insert into delivery_count_deltas (account_id, endpoint_id, minute, total, delivered, failed)
       select $1, endpoint_id, date_trunc('minute', id_time(id)), count(*), 0, 0 from wanted group by 1, 2, 3)
     insert into queue (account_id, endpoint_id, event_id, generation, due_at)
     select $1, endpoint_id, id, 0, now() from wanted order by g, k`,
    [seed.account, seed.events, seed.fanOut, seed.endpoints, EVENT_FILLER],
  );
}

/** As `settle`, for events and their deliveries. */
export async function settleDeliveries(client: pg.Client): Promise<void> {
  await client.query('vacuum (analyze) queue, endpoint_state, webhook_endpoints');
  await client.query('analyze events, deliveries, attempts');
  await client.query('checkpoint');
}

/** Writes the balances of seeded affiliates from their commissions and lines, as a migration does for books that are there. */
export async function sumBalances(client: pg.Client, account: string): Promise<void> {
  await client.query(
    `insert into affiliate_balance_marks values ($1, now_ms())
     on conflict (account_id) do update set available_at = excluded.available_at, minimum_payout = null`,
    [account],
  );
  await client.query(
    `insert into affiliate_balances (account_id, affiliate_id, currency, unpaid, pending, paid, last_paid_at)
     select $1, affiliate_id, currency, sum(unpaid), sum(pending), sum(paid), max(paid_at)
     from (
       select affiliate_id, currency, case when available_at <= now_ms() then amount else 0 end as unpaid,
              case when available_at <= now_ms() then 0 else amount end as pending, 0 as paid, null::timestamptz as paid_at
       from commissions where account_id = $1 and payout_id is null and voided_at is null
       union all
       select t.affiliate_id, t.currency, 0, 0, t.amount, p.paid_at
       from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id
       where t.account_id = $1 and t.is_paid) part
     group by 2, 3`,
    [account],
  );
}

/** Fills the charts from existing commissions, as the migration that introduced them does. */
const SERIES = /with happened as[\s\S]*?group by 1, 2, 3, 4, 5, 6;/.exec(
  readFileSync(new URL('../migrations/0023_commission_series.sql', import.meta.url), 'utf8'),
)?.[0];

/** Adds up the series of all seeded commissions, and waits until a chore has added up the months of their affiliates. */
export async function sumSeries(client: pg.Client): Promise<void> {
  if (SERIES === undefined) throw new Error('the migration of the charts has no sums');
  await client.query(SERIES);
  await client.query('insert into affiliate_series_due select id from accounts');
  while ((await client.query('select from affiliate_series_due limit 1')).rows.length > 0)
    await delay(POLL_MS);
  await client.query('vacuum (analyze) commission_series, affiliate_series');
}

const POLL_MS = 500;
