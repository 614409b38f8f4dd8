-- Waiting deliveries that are too old, or that somebody discarded when the endpoint was enabled, are cancelled instead of sent
-- (docs/decisions/0102).
-- Locks: ACCESS EXCLUSIVE on the endpoints and their states, for a moment, both or none; they have hundreds of rows for each account.
-- Time: milliseconds.

-- Servers of the version before use these tables in other orders than this (0046).
do $$
declare
  usual text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', case when attempt < 200 then '200ms' else usual end, true);
      lock table webhook_endpoints, endpoint_state in access exclusive mode;
      perform set_config('lock_timeout', usual, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
end $$;

alter table webhook_endpoints
  add column max_age int, -- seconds; null = no limit
  add column discarded_until timestamptz(3); -- what was held before then is not sent
alter table webhook_endpoints add constraint webhook_endpoints_max_age check (max_age > 0);
create index webhook_endpoints_cutoff on webhook_endpoints (account_id, id)
  where deleted_at is null and (max_age is not null or discarded_until is not null);

-- Deliveries up to this event have been compared with the cutoff of their endpoint.
alter table endpoint_state add column judged_until uuid not null default '00000000-0000-0000-0000-000000000000';
