-- The version of the API in which an endpoint gets events: the current one when it was created (docs/decisions/0139).
-- Locks: ACCESS EXCLUSIVE on webhook_endpoints, for a moment.
-- Time: milliseconds.
alter table webhook_endpoints add column api_version text not null default '2.0.0';
