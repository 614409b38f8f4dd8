-- Events of one ordering key go to an ordered endpoint one after the other (docs/decisions/0057).

-- Servers of the version before use these tables in other orders than this. Waiting for one while holding another would be
-- a deadlock, which may fail a request of theirs. So all are taken or none: PostgreSQL looks for deadlocks after a second,
-- and this gives up before. The last time it waits as long as it takes.
do $$
declare
  usual text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', case when attempt < 200 then '200ms' else usual end, true);
      lock table webhook_endpoints, events, queue in access exclusive mode;
      perform set_config('lock_timeout', usual, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
end $$;

alter table events add column ordering_key text;
alter table webhook_endpoints add column ordered boolean not null default false;

-- Only rows that were published with a key to an ordered endpoint have both; others null.
alter table queue
  add column ordering_key text,
  add column place int8; -- its turn: rows of a key go in this order
-- A row that is not the first of its key has the generation 2147483647, which the claim never reaches.
create unique index queue_in_front on queue (endpoint_id, ordering_key)
  where ordering_key is not null and generation < 2147483647;
create index queue_behind on queue (endpoint_id, ordering_key, place)
  where ordering_key is not null and generation = 2147483647;

-- Keys that are busy at an endpoint: there is a row as long as the queue has one of the key. Whoever adds a delivery of the
-- key, or lets the next one go, holds it until the end of the transaction.
create table queue_keys (
  account_id   uuid not null,
  endpoint_id  uuid not null,
  ordering_key text not null,
  last_place   int8 not null,
  primary key (endpoint_id, ordering_key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
