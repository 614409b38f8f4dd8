-- How many events an endpoint takes in one request (docs/decisions/0065): all three are null = one each.
alter table webhook_endpoints
  add column batch_events int check (batch_events between 2 and 1000),
  add column batch_bytes int check (batch_bytes between 16384 and 4194304),
  add column batch_wait_ms int check (batch_wait_ms between 0 and 60000),
  add constraint batch_is_whole check (num_nulls(batch_events, batch_bytes, batch_wait_ms) in (0, 3));
