import sql from 'sql-template-tag';
import type { Lines } from '../../db/json-lines.ts';
import { isKept } from '../../outbox/queue.ts';
import { attemptsOfDelivery, endpointJoin, record } from './record.ts';

/** Events with their payloads. */
export const eventLines: Lines = {
  columns: sql`public_id('evt', v.id) as id, v.type, iso(id_time(v.id)) as created_at, v.payload::json as payload`,
  from: sql`events v`,
  account: 'v.account_id',
  order: 'v.id',
  where: isKept(sql`v.id`),
};

/** Deliveries with their attempts. */
export const deliveryLines: Lines = {
  columns: sql`${record}, ${attemptsOfDelivery} as attempts`,
  from: sql`deliveries d ${endpointJoin}`,
  account: 'd.account_id',
  order: 'd.event_id, d.endpoint_id',
  where: isKept(sql`d.event_id`),
};
