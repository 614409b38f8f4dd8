-- What an attempt counts as: 64 times the class of its answer (2 to 5; 1 = none came), and one of 64 spans of durations.
-- Up to 11 ms each has its own; from there on a span is 18 % longer than the one before. Above 599 is 5xx (RFC 9110, 15).
create function attempt_code(duration_ms int, response_status int) returns int2
language sql immutable parallel safe
return (64 * case when response_status is null then 1 else least(response_status / 100, 5) end
        + case when duration_ms < 12 then duration_ms
               else least(63, 12 + floor(ln(duration_ms / 12.0::float8) / ln(1.18::float8))::int) end)::int2;

-- The attempt that changed the log, or that changed nothing but its own number.
alter table delivery_count_deltas
  add column attempted_minute timestamptz, -- in which the attempts began
  add column attempt_codes int2[];         -- of each, negative where it was removed from the log

-- How many attempts there were of each code (src/outbox/counts.ts), by the hour and the minute in which they began, of an
-- endpoint, and of an account, whose scope is its own id. Retention drops them with the week of their events.
create table attempt_counts (
  account_id uuid not null,
  scope_id   uuid not null,
  span       text not null check (span in ('hour', 'minute')),
  starts_at  timestamptz not null,
  log_week   timestamptz not null,
  codes      int2[] not null,
  counts     int[] not null,
  primary key (account_id, scope_id, span, starts_at, log_week),
  check (cardinality(codes) = cardinality(counts))
) with (fillfactor = 80);
create index attempt_counts_week on attempt_counts (log_week);

insert into attempt_counts
select account_id, scope_id, span, starts_at, log_week, array_agg(code), array_agg(n)
from (
  select account_id, scope_id, span, date_bin(length, started_at, timestamptz '2001-01-01 00:00:00Z') as starts_at,
         date_bin(interval '7 days', id_time(event_id), timestamptz '2001-01-01 00:00:00Z') as log_week,
         attempt_code(duration_ms, response_status) as code, count(*)::int as n
  from attempts a
  cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
  cross join (values ('hour', interval '1 hour'), ('minute', '1 minute')) spans (span, length)
  where not exists (
    select from dropped_weeks w
    where id_time(a.event_id) >= w.starts_at and id_time(a.event_id) < w.starts_at + interval '7 days')
  group by 1, 2, 3, 4, 5, 6) coded
group by 1, 2, 3, 4, 5;
