-- Behind a pooler, a cell needs the URL of PostgreSQL itself, to listen and to hold locks of a session.
-- Locks: ACCESS EXCLUSIVE on `cells`, for a moment.
-- Time: milliseconds.
alter table cells add column listen_url bytea;
