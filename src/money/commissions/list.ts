import sql, { join, type Sql } from 'sql-template-tag';
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
  opaqueIdOrNone,
  type Page,
} from '../../contract/lists.ts';
import type { PageCut } from '../../contract/page-cuts.ts';
import { maybeRecord } from '../../contract/records.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId, CommissionId, PayoutId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { COMMISSION_STATUSES, COMMISSION_TYPES } from './fields.ts';
import { type Commission, payoutJoin, record } from './record.ts';

// At most one payout of an account is unpaid, so a row in any other payout is paid, and no join is needed.
function hasStatus(status: string, account: AccountId): Sql {
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
    status: oneOf(COMMISSION_STATUSES, hasStatus),
    affiliate_id: numberId((id) => sql`c.affiliate_id = ${id}`),
    program_id: numberId((id) => sql`c.program_id = ${id}`),
    has_program: oneOf(['true', 'false'], (has) => sql`(c.program_id is not null) = ${has}::boolean`),
    payout_id: opaqueIdOrNone('po', 'c.payout_id'),
    currency: currency('c.currency'),
    type: oneOf(COMMISSION_TYPES, (type) => sql`c.type = ${type}`),
    order_id: exactly('c.order_id'),
    order_line_id: exactly('c.order_line_id'),
    external_id: exactly('c.external_id'),
    ...idInstants('created_at', 'c.id'),
    ...instants('occurred_at', 'c.occurred_at'),
    ...instants('voided_at', 'c.voided_at'),
    ...instants(
      'paid_at',
      '(select paid_at from payouts p where p.account_id = c.account_id and p.id = c.payout_id)',
    ),
  },
};

const open = sql`c.payout_id is null and c.voided_at is null`;

/**
 * A page by status in id order, where a scan of all commissions would first pass every newer row of another status:
 * paid rows are merged from the newest of each payout, unpaid ones from open commissions and the current payout.
 */
function findOf(status: string | undefined, account: AccountId, conditions: Sql) {
  const idsOf = (extra: Sql, { upTo, after }: PageCut) => sql`
    (select c.id from commissions c where c.account_id = ${account} and ${extra} and ${conditions} and ${after} ${upTo})`;
  const idsIn = (state: 'unpaid' | 'paid', cut: PageCut) => sql`
    (select c.id from payouts q cross join lateral ${idsOf(sql`c.payout_id = q.id`, cut)} c
     where q.account_id = ${account} and q.status = ${state})`;
  const rowsOf = (ids: Sql, { page }: PageCut) => sql`
    select c.* from (select id from ${ids} c ${page}) found
    join commissions c on c.account_id = ${account} and c.id = found.id`;
  if (status === 'paid') return (cut: PageCut) => rowsOf(idsIn('paid', cut), cut);
  if (status !== 'unpaid') return undefined;
  return (cut: PageCut) =>
    rowsOf(
      sql`(${idsOf(sql`${open} and c.available_at <= now()`, cut)} union all ${idsIn('unpaid', cut)})`,
      cut,
    );
}

/**
 * Totals as sums of what other tables record, each a query with one column `n`, so that the history is not counted.
 * Only held and voided commissions are counted, on an index that contains nothing else.
 */
function totalOf(status: string | undefined, account: AccountId): Sql {
  const arrived = sql`(select coalesce(sum(count), 0)::int8 from commission_arrivals where account_id = ${account})`;
  const paid = sql`(select coalesce(sum((t ->> 'paid_count')::int8), 0)::int8
    from payouts p cross join json_array_elements(p.totals) t where p.account_id = ${account} and p.status = 'paid')`;
  const pending = sql`(select count(*) from commissions c
    where c.account_id = ${account} and ${open} and c.available_at > now())`;
  const voided = sql`(select count(*) from commissions c
    where c.account_id = ${account} and c.voided_at is not null)`;
  switch (status) {
    case 'paid':
      return sql`select ${paid} as n`;
    case 'unpaid':
      return sql`select ${arrived} - ${paid} - ${pending} - ${voided} as n`;
    case 'pending':
      return sql`select ${pending} as n`;
    case 'voided':
      return sql`select ${voided} as n`;
    default:
      return sql`select ${arrived} as n`;
  }
}

/** One page of commissions. */
export function listCommissions(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Commission>> {
  const status = list.given.get('status');
  const onlyStatus = list.given.size === (status === undefined ? 0 : 1);
  const byId = /^-?(id|created_at)$/.test(list.sort);
  const conditions = list.conditions.length === 0 ? sql`true` : join(list.conditions, ' and ');
  const find = byId ? findOf(status, account, conditions) : undefined;
  return listPage(db, {
    list,
    name: 'commissions',
    table: 'commissions',
    alias: 'c',
    where: sql`c.account_id = ${account}`,
    record,
    join: payoutJoin,
    ...(find ? { find } : {}),
    ...(onlyStatus ? { total: totalOf(status, account) } : {}),
  });
}

/** A page of the commissions of a payout (UUID); for a paid one those that were paid. */
export function listPayoutCommissions(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  list: ListQuery,
): Promise<Page<Commission>> {
  const where = sql`c.account_id = ${account} and c.payout_id = ${payout}`;
  return listPage(db, {
    list,
    name: 'payout_commissions',
    table: 'commissions',
    alias: 'c',
    where,
    record,
    join: payoutJoin,
  });
}

export function readCommission(
  db: Reader,
  account: AccountId,
  id: CommissionId,
): Promise<Json<Commission> | null> {
  return maybeRecord(
    db,
    record,
    sql`commissions c ${payoutJoin} where c.account_id = ${account} and c.id = ${id}`,
  );
}
