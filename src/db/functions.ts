import sql, { type Sql } from 'sql-template-tag';
import { formulaCondition } from '../kernel/csv-guard.ts';
import { currencyTable } from '../kernel/money.ts';
import { API_VERSIONS, payloadAt } from './api-versions.ts';
import { SHARE_PUBLISHING } from './locks.ts';

function moneyFactors(): string {
  const byDigits = new Map<number, string[]>();
  for (const [code, digits] of currencyTable()) byDigits.set(digits, [...(byDigits.get(digits) ?? []), code]);
  const list = (digits: number) => (byDigits.get(digits) ?? []).map((code) => `'${code}'`).join(',');
  return `case when currency in (${list(0)}) then 1 when currency in (${list(3)}) then 0.001 else 0.01 end`;
}

/**
 * The SQL functions of the program, created again whenever their text changes. Small and inlinable: they run
 * once a row in files and lists. The factors of money come from the one currency table in kernel/money.
 */
export const FUNCTIONS = `
-- A UUID of version 7 from the database's clock (RFC 9562 section 5.7): ids sort by time.
do $do$ begin
  if exists (select from pg_proc where proname = 'uuidv7' and pronamespace = 'pg_catalog'::regnamespace) then
    create or replace function new_id() returns uuid language sql volatile parallel safe
      as $$ select pg_catalog.uuidv7() $$;
  else
    -- before 18: the fraction of the millisecond is in the twelve bits after the version (RFC 9562 section 6.2, method 3)
    create or replace function new_id() returns uuid language sql volatile parallel safe as $$
      select (lpad(to_hex(us / 1000), 12, '0') || '7' || lpad(to_hex(us % 1000 * 4096 / 1000), 3, '0')
        || substr(gen_random_uuid()::text, 20))::uuid
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as us) now $$;
  end if;
end $do$;

-- The time of the database's clock at this moment. It is labelled stable because Citus refuses volatile functions in a change.
create or replace function clock_time() returns timestamptz language plpgsql stable parallel safe as $$
  begin
    return clock_timestamp();
  end $$;

-- The instant inside an id: when the row was created.
create or replace function id_time(id uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x0000' || substr(encode(uuid_send(id), 'hex'), 1, 12))::bit(64)::bigint / 1000.0) $$;

-- Marks this transaction as one that publishes events, until it ends: it shares an advisory lock whose second key is when it
-- began (db/locks). Called before the id of each event is made. Always true.
create or replace function begins_publishing(space int) returns boolean language plpgsql volatile as $$
  begin
    ${SHARE_PUBLISHING}
    return true;
  end $$;

-- An id: no event that is still to be committed has a smaller one. It is that of the beginning of the oldest transaction that is
-- marked so, or of now, made before the locks are read. Labelled stable because it reads nothing that a transaction stored.
create or replace function publishing_from(space int) returns uuid language plpgsql stable as $$
  declare
    here uuid := new_id();
    at bigint := floor(extract(epoch from id_time(here)) * 1000);
    age bigint := (
      select max((at - objid::bigint) & 4294967295) from pg_locks
      where locktype = 'advisory' and classid = space::oid and objsubid = 2
        and database = (select oid from pg_database where datname = current_database())
        -- a later time than now: the clock was set back
        and (at - objid::bigint) & 4294967295 < 2147483648);
  begin
    return coalesce(id_floor(to_timestamp((at - age) / 1000.0)), here);
  end $$;

-- The token of a lease: an id of now whose last four bytes are the number of the worker.
create or replace function lease_token(worker int) returns uuid language sql volatile parallel safe as $$
  select encode(overlay(uuid_send(new_id()) placing int4send(worker) from 13), 'hex')::uuid $$;

-- A new id that names a cell: as new_id, but of version 8, and with the cell in its last two bytes (RFC 9562 section 5.8).
create or replace function id_in_cell(cell int) returns uuid language sql volatile parallel safe as $$
  select (overlay(overlay(new_id()::text placing '8' from 15) placing lpad(to_hex(cell), 4, '0') from 33))::uuid $$;

-- Locks the lane of an endpoint until the transaction ends. Returns how many more attempts may be in flight there, counted in a snapshot
-- taken after the lock, and when it was locked; no row when another transaction has locked it. No lease ends before \`leased_from\`.
create or replace function lock_lane(of_account uuid, of_endpoint uuid, of_generation int, leased_from timestamptz, lease_ms int)
  returns table (room int, locked_at timestamptz) language plpgsql volatile rows 1 set enable_seqscan = off as $$
  begin
    select s.lane into room from endpoint_state s
    where s.account_id = of_account and s.endpoint_id = of_endpoint for no key update skip locked;
    if not found then return; end if;
    locked_at := clock_timestamp();
    room := room - (
      select count(*) from queue q
      where q.account_id = of_account and q.endpoint_id = of_endpoint and q.generation = of_generation and q.due_at > locked_at
        and q.due_at >= coalesce(leased_from, locked_at) and q.due_at <= locked_at + lease_ms * interval '1 millisecond'
        and q.lease_token is not null);
    return next;
  end $$;

create or replace function lease_worker(token uuid) returns int language sql immutable parallel safe as $$
  select ('x' || substr(encode(uuid_send(token), 'hex'), 25))::bit(32)::int $$;

-- The smallest id of an instant: created_at filters compare ids, so that the primary key serves them.
create or replace function id_floor(at timestamptz) returns uuid language sql immutable parallel safe as $$
  select (lpad(to_hex(ceil(extract(epoch from at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid $$;

create or replace function public_id(prefix text, id uuid) returns text language sql immutable parallel safe as $$
  select prefix || '_' || encode(uuid_send(id), 'hex') $$;

-- Columns keep milliseconds and would round up: what happens now must not lie in the future.
create or replace function now_ms() returns timestamptz language sql stable parallel safe as $$
  select date_trunc('milliseconds', now()) $$;

-- A payload as filters see it. One that jsonb cannot hold, with a number of 150,000 digits, is null to them: no path is in it.
create or replace function filterable(payload text) returns jsonb language plpgsql immutable as $$
  begin
    return payload::jsonb;
  exception when data_exception or program_limit_exceeded then
    return 'null';
  end $$;

-- Whether a text or list of a payload contains a value: an element of \`filter_contains\` of an endpoint (webhooks/filters). A text is
-- searched by strpos, which takes time for each byte of what is searched and, at worst, of what is looked for. So that has at most 8
-- characters; a longer text is searched by a regular expression, in linear time, where its beginning is found.
create or replace function filter_contains(payload jsonb, searched jsonb) returns boolean language sql immutable as $$
  select coalesce(case jsonb_typeof(found)
    when 'string' then jsonb_typeof(value) = 'string'
      and strpos(found #>> '{}', left(value #>> '{}', 8)) > 0
      and (length(value #>> '{}') <= 8 or found @@ format('$ like_regex %s flag "q"', value)::jsonpath)
    when 'array' then found @> jsonb_build_array(value)
    end, false)
  from (select jsonb_path_query_first(payload, (searched ->> 'at')::jsonpath, '{}', true) as found,
          searched -> 'value' as value) s $$;

-- Whether a payload matches a filter. Nothing in a filter is negated, so one that does not match if all is contained needs no search.
create or replace function filter_matches(payload jsonb, path jsonpath, contains jsonb) returns boolean
  language plpgsql immutable as $$
  declare
    vars jsonb := (select jsonb_object_agg(concat('c', place - 1), true)
      from jsonb_array_elements(contains) with ordinality c (value, place));
  begin
    if not coalesce(jsonb_path_match(payload, path, vars, true), false) then return false; end if;
    vars := (select jsonb_object_agg(concat('c', place - 1), filter_contains(payload, value))
      from jsonb_array_elements(contains) with ordinality c (value, place));
    return coalesce(jsonb_path_match(payload, path, vars, true), false);
  end $$;

-- The text of a value that can name something: of 1 to 255 characters, none of them a control character; else null.
create or replace function naming(value json) returns text language sql immutable as $$
  select case when json_typeof(value) in ('string', 'number')
    then substring(value #>> '{}' from '^[^\\u0001-\\u001F\\u007F-\\u009F]{1,255}$') end $$;

-- The changes of an event (outbox/changes) with null in place of each value.
create or replace function erased_changes(changes jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(kind.key, (
    select coalesce(jsonb_object_agg(field.key, null::jsonb), '{}') from jsonb_each(kind.value) field))
  from jsonb_each(changes) kind $$;

-- A payload in the form that an endpoint asks for (webhooks/forms). Its data goes through as it was stored, every digit of it.
-- The attributes of a CloudEvent are no objects, so it has the changes as a text.
create or replace function payload_as(form text, payload text) returns text language plpgsql immutable strict as $$
  declare
    -- nothing in front of the data can contain this
    place int := strpos(payload, ',"data":');
    head_and_changes text := left(payload, place - 1);
    envelope text := split_part(head_and_changes, ',"changes":', 1);
    changes text := nullif(substr(head_and_changes, length(envelope) + 12), '');
    data text := substr(payload, place + 8, length(payload) - place - 8);
    head json := envelope || '}';
    id json;
    object json;
  begin
    begin
      select about.id, about.object into id, object from json_to_record(data::json) as about (id json, object json);
    exception when data_exception or program_limit_exceeded then
      -- data that cannot be read is sent all the same
    end;
    return case form
      when 'thin' then concat(
        envelope,
        case when naming(id) is not null then concat(',"related_object":{"id":', id,
          case when naming(object) is not null then concat(',"object":', object) end, '}') end,
        ',"url":"/v2/events/', head ->> 'id', '"}')
      when 'cloudevents' then concat(
        '{"specversion":"1.0","id":', head -> 'id',
        ',"source":"urn:uuid:', substr(head ->> 'account_id', 5)::uuid,
        '","type":', head -> 'type', ',"subject":' || to_json(naming(id)), ',"time":', head -> 'timestamp',
        ',"datacontenttype":"application/json","accountid":', head -> 'account_id',
        ',"apiversion":', head -> 'api_version', ',"istest":' || (head ->> 'is_test'), ',"changes":' || to_json(changes), ',"data":', data, '}')
    end;
  end $$;

-- A payload in the version of an endpoint (db/api-versions).
${payloadAt(API_VERSIONS)}
-- A time and a span later: \`at + span\` without the session's time zone, on which the length of a day depends, so it is immutable.
create or replace function add_span(at timestamptz, span interval) returns timestamptz language sql immutable parallel safe as $$
  select (at at time zone 'UTC' + span) at time zone 'UTC' $$;

-- RFC 3339, UTC, milliseconds.
create or replace function iso(at timestamptz) returns text language sql stable parallel safe as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- Minor units as a decimal string: multiplying prints the currency's digits exactly, dividing would not.
create or replace function decimal_text(amount numeric, currency text) returns text
  language sql immutable parallel safe as $$ select (amount * ${moneyFactors()})::text $$;

-- A text cell of a file: one that a spreadsheet would run as a formula gets a leading apostrophe.
create or replace function csv_text(cell text) returns text language sql immutable parallel safe as $$
  select case when ${formulaCondition('cell')} then '''' || cell else cell end $$;
`;

/** SQL: a new id of a record that is named before its cell is known, such as an application; `cellOfId` reads the cell from it. */
export const newIdIn = (cell: number): Sql => (cell === 0 ? sql`new_id()` : sql`id_in_cell(${cell}::int)`);
