-- It goes in a request of its own, at once, also to an endpoint that takes several events in one: a test event, or one that somebody
-- retried by hand while it waited for others. Servers of the version before leave it false.
-- Locks: ACCESS EXCLUSIVE on queue for a moment, because the default is a constant: nothing is rewritten.
-- Time: milliseconds, whatever the size.

alter table queue add column alone boolean not null default false;
