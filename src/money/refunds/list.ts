import sql from 'sql-template-tag';
import {
  exactly,
  type Filter,
  idInstants,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import { maybeRow, oneRow, type Reader } from '../../db/connect.ts';
import type { AccountId, RefundId } from '../../kernel/ids.ts';
import { record as commissionRecord, payoutJoin } from '../commissions/list.ts';

const commissionAt = (id: 'commission_id' | 'clawback_id') => sql`(
  select row_to_json(o) from (
    select ${commissionRecord} from commissions c ${payoutJoin}
    where c.account_id = i.account_id and c.id = ${id === 'commission_id' ? sql`i.commission_id` : sql`i.clawback_id`}) o)`;

/** What a refund took of a commission, over `refund_items i`. */
const item = sql`i.amount, i.sale_amount, i.capped, ${commissionAt('commission_id')} as commission,
  ${commissionAt('clawback_id')} as clawback`;

/** What a refund says of itself, over `refunds r`. */
const head = sql`public_id('ref', r.id) as id, 'affiliate_refund' as object, r.external_id, r.status, r.order_id,
  r.product_id, r.reason, iso(r.occurred_at) as occurred_at, iso(r.reversed_at) as reversed_at,
  iso(id_time(r.id)) as created_at, iso(greatest(r.updated_at, id_time(r.id))) as updated_at`;

const record = sql`${head},
  (select coalesce(json_agg((select o from (
      select l.order_line_id, l.commission_external_id as external_id, l.amount, l.sale_amount, l.currency, l.status) o)
     order by l.position), '[]')
   from refund_lines l where l.account_id = r.account_id and l.refund_id = r.id) as lines,
  (select coalesce(json_agg((select o from (select ${item}) o) order by i.commission_id), '[]')
   from refund_items i where i.account_id = r.account_id and i.refund_id = r.id) as refunds`;

/** A filter by a commission that the refund took of. */
const ofCommission: Filter = (() => {
  const filter = opaqueId('com', 'i.commission_id');
  return {
    ...filter,
    condition(value, scope) {
      const condition = filter.condition(value, scope);
      return (
        condition &&
        sql`exists (select from refund_items i
          where i.account_id = r.account_id and i.refund_id = r.id and ${condition})`
      );
    },
  };
})();

export const refundList: ListDefinition = {
  id: 'r.id',
  sort: { id: 'r.id', created_at: 'r.id', occurred_at: 'r.occurred_at' },
  filters: {
    status: oneOf(['waiting', 'applied', 'reversed'], (status) => sql`r.status = ${status}`),
    order_id: exactly('r.order_id'),
    external_id: exactly('r.external_id'),
    commission_id: ofCommission,
    ...idInstants('created_at', 'r.id'),
    ...instants('occurred_at', 'r.occurred_at'),
  },
};

/** One page of refunds. */
export function listRefunds(db: Reader, account: AccountId, list: ListQuery): Promise<Page> {
  return listPage(db, {
    list,
    name: 'refunds',
    table: 'refunds',
    alias: 'r',
    where: sql`r.account_id = ${account}`,
    record,
  });
}

/** The record of a refund (UUID), or null. */
export async function readRefund(db: Reader, account: AccountId, id: RefundId): Promise<string | null> {
  const row = await maybeRow<{ json: string }>(
    db,
    sql`select row_to_json(o)::text as json from (
          select ${record} from refunds r where r.account_id = ${account} and r.id = ${id}) o`,
  );
  return row?.json ?? null;
}

/** The record of a refund (UUID) of one commission, with what it took of it. */
export async function readCommissionRefund(db: Reader, account: AccountId, id: RefundId): Promise<string> {
  const { json } = await oneRow<{ json: string }>(
    db,
    sql`select row_to_json(o)::text as json from (
          select ${head}, ${item} from refunds r
          join refund_items i on i.account_id = r.account_id and i.refund_id = r.id
          where r.account_id = ${account} and r.id = ${id}) o`,
  );
  return json;
}
