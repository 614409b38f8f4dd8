import sql from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import { type Patterns, tellsOf, withoutAddress, withoutPerson } from '../../erasure/person.ts';
import type { AccountId } from '../../kernel/ids.ts';

const AT_ONCE = 1000;

/** Whose traces are looked for. */
interface Sought {
  readonly account: AccountId;
  readonly affiliate: bigint;
  readonly patterns: Patterns;
  /** The record of the affiliate now: JSON text, which every event about the affiliate has from now on. */
  readonly record: string;
}

/**
 * Takes a person out of a slice of the log, behind the UUID of an event: out of payloads, and out of what receivers
 * answered. Returns the UUID of the last event of the slice; null = there are no more. What still waits is sent as it
 * then is.
 */
export async function eraseFromLog(tx: Tx, sought: Sought, cursor: string): Promise<string | null> {
  const { account } = sought;
  const last = await maybeRow<{ id: string }>(
    tx,
    sql`select id from (select id from events where account_id = ${account} and id > ${cursor}::uuid
          order by id limit ${AT_ONCE}::int) slice order by id desc limit 1`,
  );
  if (last === null) return null;
  const span = { from: cursor, to: last.id };
  const changed = await rewriteEvents(tx, sought, span);
  await blankAnswers(tx, sought, span, changed);
  await rows(
    tx,
    sql`update event_keys set external_id = ${withoutAddress(sql`external_id`, sought.patterns)}
        where account_id = ${account} and event_id > ${cursor}::uuid and event_id <= ${last.id}::uuid
          and external_id ~* ${sought.patterns.addresses}`,
  );
  return last.id;
}

/** Events behind `from`, up to and including `to`, by UUID. */
interface Span {
  readonly from: string;
  readonly to: string;
}

/** Rewrites `data` of the events that tell of the person; the envelope stays. Returns the UUIDs of the events. */
async function rewriteEvents(
  tx: Tx,
  { account, affiliate, patterns, record }: Sought,
  { from, to }: Span,
): Promise<string[]> {
  const changed = await rows<{ id: string }>(
    tx,
    sql`with split as materialized (
          select id, type, left(payload, at) as head, substr(payload, at + 1, length(payload) - at - 1) as data
          from (select id, type, payload, strpos(payload, '"data":') + 6 as at from events
                where account_id = ${account} and id > ${from}::uuid and id <= ${to}::uuid) located),
        seen as materialized (
          -- a letter may be written as an escape, which patterns do not see through
          select id, type, head, case when strpos(data, '\\u') > 0 then filterable(data)::text else data end as data,
                 case when type ~ '^(affiliate|commission|refund|payout)[.]'
                      then coalesce(data::json ->> 'affiliate_id', case when type ~ '^affiliate[.]' then data::json ->> 'id' end)
                      = ${String(affiliate)} else false end as is_about
          from split)
        update events v
        set payload = head || case when is_about and seen.type ~ '^affiliate[.]' then ${record}
                                   else ${withoutPerson(sql`data`, patterns)} end || '}'
        from seen
        where v.account_id = ${account} and v.id = seen.id and v.id > ${from}::uuid and v.id <= ${to}::uuid
          and (coalesce(is_about, false) or ${tellsOf(sql`data`, patterns)})
        returning v.id`,
  );
  return changed.map(({ id }) => id);
}

/** Blanks what came back for events that told of the person, and every other answer that does. */
async function blankAnswers(
  tx: Tx,
  { account, patterns }: Sought,
  { from, to }: Span,
  events: readonly string[],
): Promise<void> {
  const said = sql`concat_ws(chr(10), a.url, a.request_headers::text, a.response_headers::text, a.response_body, a.error_message)`;
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
