-- The platform's own event types, with the schema of their data, and whether events are checked against it (docs/decisions/0127).
-- Locks: ACCESS EXCLUSIVE on `accounts`, for a moment.
-- Time: milliseconds.
alter table accounts
  add column event_validation text not null default 'off',
  add column event_types_revision bigint not null default 0; -- rises with every change of an own type
alter table accounts add constraint accounts_event_validation check (event_validation in ('off', 'warn', 'refuse'));

create table event_types (
  account_id   uuid not null references accounts,
  type         text not null,
  description  text not null,
  group_name   text,
  deprecation  text, -- null = not deprecated
  data_schema  json, -- as it was sent: the order of keys is for people
  data_example json,
  violated_at  timestamptz, -- when an event last violated the schema, noted at most once a minute
  violation    text,
  primary key (account_id, type)
);
