-- Conditions on the payload, judged once when an event is published (src/webhooks/filters): as they were given, and as
-- PostgreSQL judges them.
alter table webhook_endpoints
  add column filter json,
  add column filter_path jsonpath,
  add check ((filter is null) = (filter_path is null));

-- The endpoints whose filter left the event out; null = none.
alter table events add column filtered uuid[];
