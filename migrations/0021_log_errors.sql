-- The log by what came back: rows whose last attempt failed, and no others. What is delivered at once is in here at no
-- time, and stays a heap-only update.
create index deliveries_erred on deliveries (account_id, event_id, endpoint_id) where last_error_code is not null;
