-- Deliveries may be cancelled: a receiver gives up an event, or somebody discards what waits (docs/decisions/0101).
-- Locks: ACCESS EXCLUSIVE on the log, the queue, the sums of the log, the endpoints and their recoveries, for a moment, all or none.
-- Time: milliseconds. No row is read: the new check of the log allows more than the one it replaces.

-- Servers of the version before use these tables in other orders than this (0046).
do $$
declare
  usual text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', case when attempt < 200 then '200ms' else usual end, true);
      lock table webhook_endpoints, webhook_recoveries, deliveries, queue, delivery_counts, delivery_count_deltas in access exclusive mode;
      perform set_config('lock_timeout', usual, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
end $$;

alter table deliveries drop constraint deliveries_status_check;
alter table deliveries add constraint deliveries_status_check
  check (status in ('pending', 'delivered', 'failed', 'cancelled')) not valid;
alter table delivery_counts add column cancelled int not null default 0;
alter table delivery_count_deltas add column cancelled int not null default 0;

-- requested: the receiver answered `webhook-delivery: disable`
alter table webhook_endpoints drop constraint webhook_endpoints_disabled_reason_check;
alter table webhook_endpoints add constraint webhook_endpoints_disabled_reason_check
  check (disabled_reason in ('manual', 'failing', 'gone', 'requested'));

-- Its delivery was discarded while an attempt was in flight: that attempt is the last.
alter table queue add column discarded boolean not null default false;

-- A recovery sends deliveries again, a discard cancels those that wait.
alter table webhook_recoveries add column action text not null default 'recover';
alter table webhook_recoveries add constraint webhook_recoveries_action check (action in ('recover', 'discard'));
alter table webhook_recoveries drop constraint webhook_recoveries_statuses_check;
alter table webhook_recoveries add constraint webhook_recoveries_statuses_check
  check (cardinality(statuses) > 0 and statuses <@ '{failed,pending,delivered,cancelled}');
