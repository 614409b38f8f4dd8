import sql, { raw } from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import { linesOf, type Patterns, tellsOf, withoutAddress, withoutPerson } from '../../erasure/person.ts';
import type { AccountId } from '../../kernel/ids.ts';

const AT_ONCE = 1000;

/** The person whose data is erased. */
interface ErasedPerson {
  readonly account: AccountId;
  readonly affiliate: bigint;
  readonly patterns: Patterns;
  /** The current record of the affiliate as JSON text. Every event about the affiliate has it afterwards. */
  readonly record: string;
}

/**
 * Removes a person from a slice of the log after an event (UUID): from payloads, receivers' responses and tags. Returns the
 * UUID of the slice's last event; null = no more. Waiting deliveries are sent in their new form.
 */
export async function eraseFromLog(tx: Tx, person: ErasedPerson, cursor: string): Promise<string | null> {
  const { account } = person;
  const last = await maybeRow<{ id: string }>(
    tx,
    sql`select id from (select id from events where account_id = ${account} and id > ${cursor}::uuid
          order by id limit ${AT_ONCE}::int) slice order by id desc limit 1`,
  );
  if (last === null) return null;
  const span = { from: cursor, to: last.id };
  const changed = await rewriteEvents(tx, person, span);
  await blankAnswers(tx, person, span, changed);
  await eraseIds(tx, person, span);
  await rows(
    tx,
    sql`delete from event_tags
        where account_id = ${account} and event_id > ${cursor}::uuid and event_id <= ${last.id}::uuid
          and ${tellsOf(sql`tag`, person.patterns)}`,
  );
  return last.id;
}

/** Events after `from`, up to and including `to`, by UUID. */
interface Span {
  readonly from: string;
  readonly to: string;
}

/** Takes the addresses of the person out of the ids that the account gave its events. What waits keeps its ordering key until it ends. */
async function eraseIds(tx: Tx, { account, patterns }: ErasedPerson, { from, to }: Span): Promise<void> {
  for (const [table, event, id] of [
    ['event_keys', 'event_id', 'external_id'],
    ['event_owners', 'event_id', 'owner'],
    ['events', 'id', 'ordering_key'],
  ] as const) {
    await rows(
      tx,
      sql`update ${raw(table)} set ${raw(id)} = ${withoutAddress(raw(id), patterns)}
          where account_id = ${account} and ${raw(event)} > ${from}::uuid and ${raw(event)} <= ${to}::uuid
            and ${raw(id)} ~* ${patterns.addresses}`,
    );
  }
}

/**
 * Rewrites `data` and `changes` of the events that mention the person, and keeps the rest of the envelope. Returns the UUIDs of
 * the events.
 */
async function rewriteEvents(
  tx: Tx,
  { account, affiliate, patterns, record }: ErasedPerson,
  { from, to }: Span,
): Promise<string[]> {
  const changed = await rows<{ id: string }>(
    tx,
    sql`with split as materialized (
          select id, type, split_part(envelope, ',"changes":', 1) as head,
                 nullif(split_part(envelope, ',"changes":', 2), '') as changes,
                 substr(payload, length(envelope) + 9, length(payload) - length(envelope) - 9) as data
          from (select id, type, payload, split_part(payload, ',"data":', 1) as envelope from events
                where account_id = ${account} and id > ${from}::uuid and id <= ${to}::uuid) located),
        seen as materialized (
          -- a character may be written as an escape, which patterns do not match
          select id, type, head, changes, case when strpos(data, '\\u') > 0 then filterable(data)::text else data end as data,
                 case when type ~ '^(affiliate|commission|refund|payout)[.]'
                      then coalesce(data::json ->> 'affiliate_id', case when type ~ '^affiliate[.]' then data::json ->> 'id' end)
                      = ${String(affiliate)} else false end as is_about
          from split)
        update events v
        set payload = head
          || coalesce(',"changes":' || case when is_about and seen.type ~ '^affiliate[.]'
                                            then erased_changes(changes::jsonb)::text
                                            else ${withoutPerson(sql`changes`, patterns)} end, '')
          || ',"data":' || case when is_about and seen.type ~ '^affiliate[.]' then ${record}
                                else ${withoutPerson(sql`data`, patterns)} end || '}'
        from seen
        where v.account_id = ${account} and v.id = seen.id and v.id > ${from}::uuid and v.id <= ${to}::uuid
          and (coalesce(is_about, false) or ${tellsOf(linesOf([sql`changes`, sql`data`]), patterns)})
        returning v.id`,
  );
  return changed.map(({ id }) => id);
}

/** Blanks the responses to events that mentioned the person, and every other response that does. */
async function blankAnswers(
  tx: Tx,
  { account, patterns }: ErasedPerson,
  { from, to }: Span,
  events: readonly string[],
): Promise<void> {
  const columns = ['url', 'request_headers', 'response_headers', 'response_body', 'error_message'];
  const said = linesOf(columns.map((name) => raw(`a.${name}::text`)));
  await rows(
    tx,
    sql`update attempts a
        set response_body = null, response_truncated = false, response_headers = null,
            url = ${withoutAddress(sql`a.url`, patterns)},
            request_headers = (${withoutAddress(sql`a.request_headers::text`, patterns)})::json,
            error_message = ${withoutPerson(sql`a.error_message`, patterns)}
        from deliveries d
        where d.account_id = ${account} and d.event_id > ${from}::uuid and d.event_id <= ${to}::uuid
          and a.account_id = d.account_id and a.endpoint_id = d.endpoint_id and a.event_id = d.event_id
          and a.event_id > ${from}::uuid and a.event_id <= ${to}::uuid
          and (a.event_id = any(${events}::uuid[]) or ${tellsOf(said, patterns)})`,
  );
}
