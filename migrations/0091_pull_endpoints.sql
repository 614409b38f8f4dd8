-- Pull endpoints have no URL: consumers claim their events and acknowledge them (docs/decisions/0118).
-- Locks: ACCESS EXCLUSIVE on the endpoints, their states, the attempts and the queue, for a moment, all or none.
-- Time: milliseconds. No row of the attempts is read: the new check allows more than the one it replaces.

-- Servers of the version before use these tables in other orders than this (0046).
do $$
declare
  usual text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', case when attempt < 200 then '200ms' else usual end, true);
      lock table webhook_endpoints, endpoint_state, attempts, queue in access exclusive mode;
      perform set_config('lock_timeout', usual, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
end $$;

-- Its url is empty. The tokens of its own are stored as hashes; the previous one is valid until a time.
alter table webhook_endpoints
  add column pull boolean not null default false,
  add column token_hash bytea,
  add column previous_token_hash bytea,
  add column previous_token_until timestamptz(3);
create unique index webhook_endpoints_token on webhook_endpoints (token_hash) where token_hash is not null;
create unique index webhook_endpoints_previous_token on webhook_endpoints (previous_token_hash) where previous_token_hash is not null;
create index webhook_endpoints_pull on webhook_endpoints (account_id, id) where pull and deleted_at is null;

-- When a consumer last asked for events, to the minute.
alter table endpoint_state add column claimed_at timestamptz(3);

-- Who has claimed the delivery, and its generation before: only while a consumer has it. Its generation is 2147483646 then, so that
-- queue_due finds it.
alter table queue add column claim json, add column claimed_generation int;

-- Who had claimed it. A consumer acknowledges without a status.
alter table attempts add column claim json;
alter table attempts drop constraint attempts_check;
alter table attempts add constraint attempts_check
  check (error_code is not null or response_status between 200 and 299 or claim is not null) not valid;
