import sql from 'sql-template-tag';
import {
  exactly,
  type Filter,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  type Page,
} from '../../contract/lists.ts';
import { maybeRow, type Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { isKept } from '../../outbox/queue.ts';
import { firstUncommitted } from '../../outbox/running.ts';
import { byExternalId, byTag, byType } from '../log/filters.ts';
import { type Caller, checkScopes } from '../log/service.ts';
import {
  type PublishedEvent,
  type PublishedEventWhole,
  publishedRecord,
  publishedRecordWhole,
} from './record.ts';

/** Matches the owner that an event was published for. */
const byOwner: Filter = {
  ...exactly(''),
  condition: (value, { account }) =>
    value === ''
      ? null
      : sql`v.id in (select o.event_id from event_owners o where o.account_id = ${account} and o.owner = ${value})`,
};

export const publishedList: ListDefinition = {
  id: 'v.id',
  sort: { id: 'v.id', created_at: 'v.id' },
  mayStopCounting: true,
  filters: {
    type: byType('v.type'),
    external_id: byExternalId('v.id'),
    owner: byOwner,
    tag: byTag('v.id'),
    ...idInstants('created_at', 'v.id'),
  },
};

/**
 * One page of the events that an account (UUID) published and that retention has kept. Oldest first, it ends before the
 * oldest transaction that is publishing, so no event is committed later in front of one that was returned.
 */
export async function listPublished(
  { db, primary }: { readonly db: Reader; readonly primary: Reader },
  account: AccountId,
  list: ListQuery,
): Promise<Page<PublishedEvent>> {
  const isFinal = list.sort.startsWith('-')
    ? sql`true`
    : sql`v.id < ${await firstUncommitted(primary, account)}::uuid`;
  return listPage(db, {
    list,
    name: 'events',
    table: 'events',
    alias: 'v',
    where: sql`v.account_id = ${account} and ${isKept(sql`v.id`)} and ${isFinal}`,
    record: publishedRecord,
  });
}

/** An event by its public id, with its deliveries. Throws `resource_missing`, `insufficient_scope`. */
export async function getPublished(
  db: Reader,
  caller: Caller,
  id: string,
): Promise<Json<PublishedEventWhole>> {
  const event = uuidOf('evt', id);
  const found =
    event === null
      ? null
      : await maybeRow<{ json: Json<PublishedEventWhole>; type: string }>(
          db,
          sql`select row_to_json(r)::text as json, r.type
              from (select ${publishedRecordWhole} from events v
                    where v.account_id = ${caller.account} and v.id = ${event} and ${isKept(sql`v.id`)}) r`,
        );
  if (found === null) throw fail('resource_missing', 'no such event');
  checkScopes(caller, found.type);
  return found.json;
}
