import sql, { type Sql } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import {
  currency,
  exactly,
  idInstants,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  opaqueId,
  type Page,
} from '../../http/lists.ts';

/** The columns of the commission record, over `commissions c` left join `payouts p`. */
const record = sql`public_id('com', c.id) as id, 'affiliate_commission' as object, c.external_id, c.affiliate_id,
  c.program_id, c.type,
  case when c.voided_at is not null then 'voided' when p.status = 'paid' then 'paid'
       when c.payout_id is null and c.available_at > now() then 'pending' else 'unpaid' end as status,
  coalesce(p.status = 'paid', false) as is_paid, c.amount, c.original_amount, c.refunded_amount, c.currency,
  c.sale_amount, c.rate_bps, c.order_id, c.customer_email, c.product_id, c.product_name, c.description,
  iso(c.occurred_at) as occurred_at,
  case when isfinite(c.available_at) then iso(c.available_at) end as available_at, public_id('po', c.payout_id) as payout_id,
  iso(p.paid_at) as paid_at, iso(c.voided_at) as voided_at, c.void_reason,
  public_id('com', c.reverses_commission_id) as reverses_commission_id, c.metadata,
  iso(id_time(c.id)) as created_at, iso(greatest(c.updated_at, id_time(c.id))) as updated_at`;
const payoutJoin = sql`left join payouts p on p.account_id = c.account_id and p.id = c.payout_id`;

const TYPES = ['sale', 'recurring', 'bonus', 'adjustment', 'clawback'];
const STATUSES = ['pending', 'unpaid', 'paid', 'voided'];

// At most one payout of an account is unpaid: a row in any other payout is paid. No join is needed.
function hasStatus(status: string, account: string): Sql {
  const current = sql`(select id from payouts where account_id = ${account} and status = 'unpaid')`;
  switch (status) {
    case 'pending':
      return sql`c.payout_id is null and c.voided_at is null and c.available_at > now()`;
    case 'unpaid':
      return sql`c.voided_at is null
        and (c.payout_id is null and c.available_at <= now() or c.payout_id = ${current})`;
    case 'paid':
      return sql`c.payout_id is not null and c.payout_id is distinct from ${current}`;
    default:
      return sql`c.voided_at is not null`;
  }
}

export const commissionList: ListDefinition = {
  id: 'c.id',
  sort: { id: 'c.id', created_at: 'c.id', occurred_at: 'c.occurred_at' },
  filters: {
    status: oneOf(STATUSES, hasStatus),
    affiliate_id: numberId((id) => sql`c.affiliate_id = ${id}`),
    program_id: numberId((id) => sql`c.program_id = ${id}`),
    payout_id: opaqueId('po', 'c.payout_id'),
    currency: currency('c.currency'),
    type: oneOf(TYPES, (type) => sql`c.type = ${type}`),
    order_id: exactly('c.order_id'),
    external_id: exactly('c.external_id'),
    ...idInstants('created_at', 'c.id'),
    ...instants('occurred_at', 'c.occurred_at'),
    ...instants(
      'paid_at',
      '(select paid_at from payouts p where p.account_id = c.account_id and p.id = c.payout_id)',
    ),
  },
};

/** One page of commissions; `extra` narrows it, for example to one payout. */
export function listCommissions(
  db: Reader,
  account: string,
  list: ListQuery,
  extra: Sql = sql`true`,
): Promise<Page> {
  const where = sql`c.account_id = ${account} and ${extra}`;
  return listPage(db, { list, from: sql`commissions c`, where, record, join: payoutJoin });
}

export async function readCommission(db: Reader, account: string, id: string): Promise<string | null> {
  const row = await maybeRow<{ json: string }>(
    db,
    sql`select row_to_json(r)::text as json from (
          select ${record} from commissions c ${payoutJoin} where c.account_id = ${account} and c.id = ${id}) r`,
  );
  return row?.json ?? null;
}

/** The columns in which commissions come in, and their SQL types; a source of them also has `line` and `affiliate_id`. */
export const INPUT_COLUMNS: Readonly<Record<string, string>> = {
  external_id: 'text',
  program_id: 'bigint',
  type: 'text',
  currency: 'text',
  amount: 'bigint',
  sale_amount: 'bigint',
  rate_bps: 'int',
  order_id: 'text',
  customer_email: 'text',
  product_id: 'text',
  product_name: 'text',
  description: 'text',
  occurred_at: 'timestamptz(3)',
  metadata: 'jsonb',
};

/** Input items (with `line` and `affiliate_id`) as a source of rows `s`. */
export function itemSource(items: readonly object[]): Sql {
  return sql`(select * from json_populate_recordset(null::commission_input, ${JSON.stringify(items)}::json)) s`;
}

/** Lines whose affiliate or program does not exist, with the rule they break. */
export function unknownReferences(
  tx: Tx,
  account: string,
  source: Sql,
): Promise<{ line: number; what: 'affiliate' | 'program' }[]> {
  return rows(
    tx,
    sql`select s.line, case when a.id is null then 'affiliate' else 'program' end as what
        from ${source}
        left join affiliates a on a.account_id = ${account} and a.id = s.affiliate_id
        left join affiliate_programs g on g.account_id = ${account} and g.id = s.program_id
        where a.id is null or (s.program_id is not null and g.id is null)
        order by s.line`,
  );
}

/** Inserts what is not there yet (by external_id) and returns how many rows that were. */
export async function insertCommissions(tx: Tx, account: string, source: Sql): Promise<number> {
  const { count } = await oneRow<{ count: number }>(
    tx,
    sql`with made as (
          insert into commissions (account_id, external_id, affiliate_id, program_id, type, currency, amount,
            original_amount, sale_amount, rate_bps, order_id, customer_email, product_id, product_name, description,
            occurred_at, available_at, metadata)
          select ${account}, s.external_id, s.affiliate_id, s.program_id, s.type, s.currency, s.amount, s.amount,
            s.sale_amount, s.rate_bps, s.order_id, s.customer_email, s.product_id, s.product_name, s.description,
            at.occurred,
            at.occurred + make_interval(days =>
              case when s.type = 'adjustment' then 0 else coalesce(g.hold_days, a.hold_days) end), s.metadata
          from ${source}
          cross join lateral (select coalesce(s.occurred_at, now_ms()) as occurred) at
          join accounts a on a.id = ${account}
          left join affiliate_programs g on g.account_id = ${account} and g.id = s.program_id
          order by s.line
          on conflict (account_id, external_id) do nothing
          returning 1)
        select count(*)::int as count from made`,
  );
  return count;
}

// Columns that never change after they came in are compared with what came first; a left-out time is any time.
const sameInput = sql`(c.affiliate_id, c.type, c.currency, c.original_amount) = (s.affiliate_id, s.type, s.currency, s.amount)
  and (c.program_id, c.sale_amount, c.rate_bps, c.order_id, c.customer_email, c.product_id, c.product_name,
       c.description, c.metadata)
    is not distinct from (s.program_id, s.sale_amount, s.rate_bps, s.order_id, s.customer_email, s.product_id,
       s.product_name, s.description, s.metadata)
  and (s.occurred_at is null or c.occurred_at = s.occurred_at)`;

/** Lines whose external_id is stored with other content. */
export async function contradictions(tx: Tx, account: string, source: Sql): Promise<number[]> {
  const found = await rows<{ line: number }>(
    tx,
    sql`select s.line from ${source}
        join commissions c on c.account_id = ${account} and c.external_id = s.external_id
        where not (${sameInput}) order by s.line`,
  );
  return found.map((row) => row.line);
}

/** The stored records of input lines. */
export function recordsOf(tx: Tx, account: string, source: Sql): Promise<{ line: number; json: string }[]> {
  return rows(
    tx,
    sql`select s.line, (select row_to_json(r)::text from (select ${record}) r) as json
        from ${source} join commissions c on c.account_id = ${account} and c.external_id = s.external_id ${payoutJoin}
        order by s.line`,
  );
}

/** Which external_ids of the source are stored already. */
export async function storedIds(tx: Tx, account: string, source: Sql): Promise<Set<string>> {
  const found = await rows<{ external_id: string }>(
    tx,
    sql`select external_id from commissions
        where account_id = ${account} and external_id in (select external_id from ${source})`,
  );
  return new Set(found.map((row) => row.external_id));
}

/** Sums of the source per currency, as the JSON of `totals`. */
export async function sumsOf(tx: Tx, source: Sql): Promise<string> {
  const { json } = await oneRow<{ json: string }>(
    tx,
    sql`select coalesce(json_agg(t order by t.currency), '[]')::text as json from (
          select currency, sum(amount) as amount, count(*) as count from ${source} group by currency) t`,
  );
  return json;
}
