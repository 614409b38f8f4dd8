-- The client certificate, by its fingerprint, whose end people were last told of, and how many days before: 30, 7, 1, 0 = it
-- has ended; null = nothing was told of it.
alter table endpoint_state add column told_certificate text, add column told_days smallint;
