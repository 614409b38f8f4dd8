-- It goes in a request of its own, at once, also to an endpoint that takes several events in one: a test event, or one that somebody
-- retried by hand while it waited for others. Servers of the version before leave it false.
alter table queue add column alone boolean not null default false;
