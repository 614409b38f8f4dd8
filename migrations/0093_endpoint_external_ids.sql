-- An endpoint may have an id of the account's own, by which a program configures it (docs/decisions/0122).
-- Locks: ACCESS EXCLUSIVE on `webhook_endpoints`, for a moment; SHARE while its index is built. It has hundreds of rows for each account.
-- Time: milliseconds.
alter table webhook_endpoints add column external_id text;
create unique index webhook_endpoints_external_id on webhook_endpoints (account_id, external_id)
  where external_id is not null and deleted_at is null;
