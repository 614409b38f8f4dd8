import sql, { type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../db/connect.ts';
import type { Json } from '../kernel/json.ts';

export type EventType =
  | 'payout.created'
  | 'payout.updated'
  | 'payout.paid'
  | 'payout.deleted'
  | 'commission.created'
  | 'commission.updated'
  | 'commission.voided'
  | 'commission.clawed_back'
  | 'commissions.imported'
  | 'affiliate.created'
  | 'affiliate.updated';

export interface Event {
  /** UUID of the account. */
  readonly account: string;
  readonly type: EventType;
  /** The record it happened to, as the REST GET shows it, without its long lists. */
  readonly data: Json<unknown>;
}

/**
 * Stores an event in the transaction of the change it tells of: both are there, or neither. The payload is
 * frozen here as the exact bytes that will be signed and sent.
 */
export async function publish(tx: Tx, { account, type, data }: Event): Promise<void> {
  await publishEach(tx, { account, type, records: sql`select ${data}::text as data` });
}

/** Stores one event for each row of `records`, a query of one text column `data`. */
export async function publishEach(
  tx: Tx,
  { account, type, records }: { account: string; type: EventType; records: Sql },
): Promise<void> {
  await rows(
    tx,
    sql`insert into events (account_id, id, type, payload)
        select ${account}, id, ${type}::text,
               concat('{"id":"', public_id('evt', id), '","object":"event","type":"', ${type}::text,
                      '","timestamp":"', iso(id_time(id)), '","account_id":"', public_id('acc', ${account}::uuid),
                      '","api_version":"2.0.0","data":', data, '}')
        from (select new_id() as id, data from (${records}) each_record) made`,
  );
}
