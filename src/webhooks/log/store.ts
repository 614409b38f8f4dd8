import sql from 'sql-template-tag';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, type Reader, type Tx } from '../../db/database.ts';
import type { AccountId, EndpointId, EventId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { isKept } from '../../outbox/queue.ts';
import {
  endpointJoin,
  record,
  recordWithAttempts,
  type WebhookEvent,
  type WebhookEventWithAttempts,
} from './record.ts';

/** Whether the account has or had the endpoint (UUID): the log of a deleted endpoint can still be read. */
export async function hadEndpoint(db: Reader, account: AccountId, endpoint: EndpointId): Promise<boolean> {
  const found = await maybeRow(
    db,
    sql`select 1 from webhook_endpoints where account_id = ${account} and id = ${endpoint}`,
  );
  return found !== null;
}

const rowsOf = (account: AccountId, endpoint: EndpointId, event: EventId) =>
  sql`deliveries d ${endpointJoin}
      where d.account_id = ${account} and d.endpoint_id = ${endpoint} and d.event_id = ${event}
        and ${isKept(sql`d.event_id`)}`;

/** One record without its attempts, or null. */
export function readDelivery(
  db: Reader,
  account: AccountId,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<Json<WebhookEvent> | null> {
  return maybeRecord(db, record, rowsOf(account, endpoint, event));
}

/** A record with its payload, attempts and type, or null. */
export function readDeliveryWhole(
  db: Reader,
  account: AccountId,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<{ json: Json<WebhookEventWithAttempts>; type: string } | null> {
  return maybeRow(
    db,
    sql`select row_to_json(r)::text as json, r.type
        from (select ${recordWithAttempts} from ${rowsOf(account, endpoint, event)}) r`,
  );
}

/**
 * What a retry needs: the type, and whether the endpoint takes deliveries. Locks the endpoint's row, so that disabling it
 * waits.
 */
export function lockDelivery(
  tx: Tx,
  account: AccountId,
  { endpoint, event }: { endpoint: EndpointId; event: EventId },
): Promise<{ type: string; disabled: boolean; deleted: boolean } | null> {
  return maybeRow(
    tx,
    sql`select d.type, e.disabled_at is not null as disabled, e.deleted_at is not null as deleted
        from ${rowsOf(account, endpoint, event)} for share of e`,
  );
}
