-- Events that are sent to an endpoint again: a job that any worker carries on, slice by slice (src/delivery/recover.ts).
create table webhook_recoveries (
  account_id    uuid not null,
  id            uuid not null default new_id(),
  endpoint_id   uuid not null,
  since         timestamptz(3) not null,
  until         timestamptz(3) not null,
  statuses      text[] not null check (cardinality(statuses) > 0 and statuses <@ '{failed,pending,delivered}'),
  types         text[] check (cardinality(types) > 0),            -- null = all
  cursor        uuid not null,                                    -- events up to this id were looked at
  queued_count  int8 not null default 0 check (queued_count >= 0),
  skipped_count int8 not null default 0 check (skipped_count >= 0),
  created_by    text not null,
  started_at    timestamptz(3),
  completed_at  timestamptz(3),
  cancelled_at  timestamptz(3),
  primary key (account_id, id),
  foreign key (account_id, endpoint_id) references webhook_endpoints,
  check (since < until),
  check (completed_at is null or cancelled_at is null),
  check (started_at is not null or (completed_at is null and queued_count + skipped_count = 0))
);
create index webhook_recoveries_endpoint on webhook_recoveries (account_id, endpoint_id, id);
create unique index webhook_recoveries_one_open on webhook_recoveries (account_id, endpoint_id)
  where completed_at is null and cancelled_at is null;

-- How much of a recovery stands in the queue. Led by the endpoint alone, so that no other index can take its place:
-- that would walk the backlog of the endpoint.
create index queue_recovery on queue (endpoint_id) where trigger = 'recovery';
