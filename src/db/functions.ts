import { formulaCondition } from '../kernel/csv-guard.ts';
import { currencyTable } from '../kernel/money.ts';

function moneyFactors(): string {
  const byDigits = new Map<number, string[]>();
  for (const [code, digits] of currencyTable()) byDigits.set(digits, [...(byDigits.get(digits) ?? []), code]);
  const list = (digits: number) => (byDigits.get(digits) ?? []).map((code) => `'${code}'`).join(',');
  return `case when currency in (${list(0)}) then 1 when currency in (${list(3)}) then 0.001 else 0.01 end`;
}

/**
 * The SQL functions of the program, created anew whenever their text changes. Small and inlinable: they run
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

-- The instant inside an id: when the row was created.
create or replace function id_time(id uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x0000' || substr(encode(uuid_send(id), 'hex'), 1, 12))::bit(64)::bigint / 1000.0) $$;

-- The token of a lease: an id of now whose last four bytes are the number of the worker.
create or replace function lease_token(worker int) returns uuid language sql volatile parallel safe as $$
  select encode(overlay(uuid_send(new_id()) placing int4send(worker) from 13), 'hex')::uuid $$;

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
