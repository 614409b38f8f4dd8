-- Where a merchant wants to hear of events. Deleted ones stay: their log is readable until retention.
create table webhook_endpoints (
  account_id            uuid not null references accounts,
  id                    uuid not null default new_id(),
  url                   text not null,
  -- The operator made this URL on the loopback of this machine: its workers may dial it. In force while the URL is the
  -- same, so that whatever changes it ends it.
  local_url             text,
  local_machine         text,
  description           text,
  event_types           text[],         -- null = all
  header_names          text[] not null default '{}',
  header_values         bytea,          -- sealed, in the order of the names
  secret                bytea not null, -- sealed
  previous_secret       bytea,          -- sealed; signs too until previous_secret_until
  previous_secret_until timestamptz(3),
  rate_limit            int check (rate_limit > 0),
  metadata              jsonb not null default '{}',
  disabled_at           timestamptz(3),
  disabled_reason       text check (disabled_reason in ('manual', 'failing', 'gone')),
  resumptions           int not null default 0, -- how often it was enabled again; see queue.generation
  deleted_at            timestamptz(3),
  updated_at            timestamptz(3) not null default now(),
  primary key (account_id, id),
  check ((disabled_at is null) = (disabled_reason is null)),
  check ((previous_secret is null) = (previous_secret_until is null)),
  check ((local_url is null) = (local_machine is null))
);
create index webhook_endpoints_deleted on webhook_endpoints (account_id, id) where deleted_at is not null;

-- What all workers together know of an endpoint. One row per endpoint, locked by whoever claims its deliveries.
create table endpoint_state (
  account_id      uuid not null,
  endpoint_id     uuid not null,
  lane            int not null default 4 check (lane between 1 and 64), -- attempts in flight at once
  may_start_at    timestamptz not null default '-infinity',             -- rate limit, Retry-After and slow-down in one
  failing_since   timestamptz(3),
  failures        int not null default 0,
  last_success_at timestamptz(3),
  primary key (account_id, endpoint_id),
  foreign key (account_id, endpoint_id) references webhook_endpoints,
  check ((failing_since is null) = (failures = 0))
) with (fillfactor = 50);

-- Events, deliveries and attempts lie in partitions of a week of event ids, made ahead (src/db/partitions.ts).
-- No default partition and no foreign keys among them: the one breaks the ordered scan, the others the dropping.

-- Stored in the transaction of the change it tells of; the payload is the exact bytes that are signed and sent.
create table events (
  account_id uuid not null,
  id         uuid not null,
  type       text not null,
  payload    text not null,
  primary key (account_id, id)
) partition by range (id);

-- The log: one event at one endpoint. Written at publish and once at each settle.
create table deliveries (
  account_id           uuid not null,
  endpoint_id          uuid not null,
  event_id             uuid not null,
  type                 text not null,
  status               text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempt_count        int not null default 0 check (attempt_count >= 0),
  next_attempt_at      timestamptz(3), -- of the schedule: an attempt by hand does not move it
  last_attempt_at      timestamptz(3),
  last_response_status int,
  last_error_code      text,
  delivered_at         timestamptz(3),
  -- for the index below: status itself would keep every settle from being a heap-only update
  is_failed            boolean not null generated always as (status = 'failed') stored,
  primary key (account_id, endpoint_id, event_id),
  check ((status = 'delivered') = (delivered_at is not null)),
  check ((status = 'pending') = (next_attempt_at is not null)),
  check ((attempt_count = 0) = (last_attempt_at is null))
) partition by range (event_id);
create index deliveries_account on deliveries (account_id, event_id, endpoint_id);
create index deliveries_type on deliveries (account_id, type, event_id, endpoint_id);
create index deliveries_failed on deliveries (account_id, event_id, endpoint_id) where is_failed;
create index deliveries_endpoint_failed on deliveries (account_id, endpoint_id, event_id) where is_failed;

-- Append-only: what was sent and what came back.
create table attempts (
  account_id         uuid not null,
  endpoint_id        uuid not null,
  event_id           uuid not null,
  number             int not null check (number > 0),
  trigger            text not null check (trigger in ('scheduled', 'manual', 'recovery')),
  url                text not null,
  started_at         timestamptz(3) not null,
  duration_ms        int not null check (duration_ms >= 0),
  request_headers    json,
  response_status    int,
  response_headers   json,
  response_body      text,
  response_truncated boolean not null default false,
  error_code         text,
  error_message      text,
  primary key (account_id, endpoint_id, event_id, number),
  check (error_code is not null or response_status between 200 and 299),
  check ((error_code is null) = (error_message is null))
) partition by range (event_id);

-- Work: a row means that somebody must act. Small beside the log, in the same transactions.
create table queue (
  account_id  uuid not null,
  endpoint_id uuid not null,
  event_id    uuid not null,
  trigger     text not null default 'scheduled' check (trigger in ('scheduled', 'manual', 'recovery')),
  step        int not null default 0 check (step >= 0), -- attempts of the schedule that were made
  -- The endpoint's resumptions when the row was last touched: a row of an earlier generation is due at once, with a
  -- new schedule. So enabling an endpoint changes one row, however many wait.
  generation  int not null,
  due_at      timestamptz not null,                     -- also the lease: a claim moves it
  lease_token uuid,                                     -- version 7: carries the time of the claim
  -- Not led by the account: a row is looked up by what queue_due does not begin with, or statistics of a queue that was
  -- empty let the planner walk an endpoint's backlog for it.
  primary key (event_id, endpoint_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index queue_due on queue (account_id, endpoint_id, generation, due_at);

-- How many rows the log has, so that no list walks it (src/delivery/counts.ts): by week, hour and minute of the time
-- inside the event id, of an endpoint, and of an account, whose scope is its own id. Weeks are those of the partitions.
create table delivery_counts (
  account_id uuid not null,
  scope_id   uuid not null,
  span       text not null check (span in ('week', 'hour', 'minute')),
  starts_at  timestamptz not null,
  total      int not null,
  delivered  int not null,
  failed     int not null,
  primary key (account_id, scope_id, span, starts_at)
) with (fillfactor = 80);
create index delivery_counts_starts on delivery_counts (starts_at);

-- What was written since they were last added up. Append-only: nobody who writes the log waits for somebody else.
create table delivery_count_deltas (
  account_id  uuid not null,
  endpoint_id uuid not null,
  minute      timestamptz not null,
  total       int not null,
  delivered   int not null,
  failed      int not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index delivery_count_deltas_endpoint on delivery_count_deltas (account_id, endpoint_id);

-- Weeks that retention has given up: nothing in them is read any more, their partitions are about to be dropped.
create table dropped_weeks (
  starts_at timestamptz primary key
);

-- external_id of published events; cannot be unique on events, whose partition key would have to be in it.
create table event_keys (
  account_id   uuid not null references accounts,
  external_id  text not null,
  event_id     uuid not null,
  request_hash bytea not null,
  primary key (account_id, external_id)
);
create index event_keys_event on event_keys (event_id);
