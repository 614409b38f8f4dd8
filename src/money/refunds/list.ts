import sql from 'sql-template-tag';
import {
  currency,
  exactly,
  type Filter,
  idInstants,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId, RefundId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type CommissionRefund, type Refund, record, recordOfOne } from './record.ts';

/** Filters by the commissions `c` that the refund applies to: one of them matches. */
const ofCommissions = (filter: Filter): Filter => ({
  ...filter,
  condition(value, scope) {
    const condition = filter.condition(value, scope);
    return (
      condition &&
      sql`exists (select from refund_items i
        join commissions c on c.account_id = i.account_id and c.id = i.commission_id
        where i.account_id = r.account_id and i.refund_id = r.id and ${condition})`
    );
  },
});

export const refundList: ListDefinition = {
  id: 'r.id',
  sort: { id: 'r.id', created_at: 'r.id', occurred_at: 'r.occurred_at' },
  filters: {
    status: oneOf(['waiting', 'applied', 'reversed'], (status) => sql`r.status = ${status}`),
    order_id: exactly('r.order_id'),
    external_id: exactly('r.external_id'),
    commission_id: ofCommissions(opaqueId('com', 'c.id')),
    affiliate_id: ofCommissions(numberId((id) => sql`c.affiliate_id = ${id}`)),
    program_id: ofCommissions(numberId((id) => sql`c.program_id = ${id}`)),
    has_program: ofCommissions(
      oneOf(['true', 'false'], (has) => sql`(c.program_id is not null) = ${has}::boolean`),
    ),
    currency: ofCommissions(currency('c.currency')),
    ...idInstants('created_at', 'r.id'),
    ...instants('occurred_at', 'r.occurred_at'),
  },
};

/** One page of refunds. */
export function listRefunds(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Refund>> {
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
export function readRefund(db: Reader, account: AccountId, id: RefundId): Promise<Json<Refund> | null> {
  return maybeRecord(db, record, sql`refunds r where r.account_id = ${account} and r.id = ${id}`);
}

/** The record of a refund (UUID) of one commission, with the amount taken from it. */
export function readCommissionRefund(
  db: Reader,
  account: AccountId,
  id: RefundId,
): Promise<Json<CommissionRefund>> {
  return oneRecord(
    db,
    recordOfOne,
    sql`refunds r join refund_items i on i.account_id = r.account_id and i.refund_id = r.id
        where r.account_id = ${account} and r.id = ${id}`,
  );
}
