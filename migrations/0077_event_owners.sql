-- Events may be for one recipient: only endpoints of that owner get them (docs/decisions/0123).
-- Locks: ACCESS EXCLUSIVE on `accounts`, for a moment; SHARE on `webhook_endpoints`, which has hundreds of rows for each account, while
-- its index is built.
-- Time: milliseconds.
alter table accounts
  add column event_owner text not null default 'optional', -- whether the platform's own events must have one
  add column endpoints_per_owner int; -- null = as many as the account may have; ten in a portal
alter table accounts add constraint accounts_event_owner check (event_owner in ('optional', 'required'));
alter table accounts add constraint accounts_endpoints_per_owner check (endpoints_per_owner > 0);

-- For publishing to an owner, and for the log of an owner, which includes endpoints that were deleted.
create index webhook_endpoints_owner on webhook_endpoints (account_id, owner) where owner is not null;

-- The owner of each event that has one, in weeks like the events.
create table event_owners (
  account_id uuid not null,
  event_id   uuid not null,
  owner      text not null,
  primary key (account_id, event_id)
) partition by range (event_id);
create index event_owners_owner on event_owners (account_id, owner, event_id);
