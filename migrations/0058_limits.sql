-- The notes that can bring a balance near 2^53 - 1 minor units (src/money/ledger/limit.ts): hardly ever one, so whoever writes
-- a commission finds them without reading the notes of its affiliate.
create index affiliate_balance_notes_large on affiliate_balance_notes (account_id, affiliate_id, currency)
  where greatest(abs(owed), abs(paid)) >= 4294967296;

-- How many texts or lists a filter searches to their end at each event: one for each `$contains`. Whoever writes a filter, also a
-- server of the version before, need not know.
alter table webhook_endpoints add column filter_searches int not null generated always as (
  case when filter is null then 0
       else (length(filter::text) - length(replace(filter::text, '"$contains"', ''))) / length('"$contains"') end) stored;
-- read with every API key: whether the events of its account share transactions with those of others
create index webhook_endpoints_filtered on webhook_endpoints (account_id) include (filter_searches)
  where filter_path is not null and deleted_at is null;

-- A filter with its searches taken out of the jsonpath, where they are several times as slow (src/webhooks/filters). null = it has
-- none, or a server of the version before wrote it; `filter_path` says the same.
alter table webhook_endpoints add column filter_fast jsonpath, add column filter_contains jsonb;
create function forget_fast_filter() returns trigger language plpgsql as $$
begin
  if new.filter_path::text is distinct from old.filter_path::text
    and new.filter_fast::text is not distinct from old.filter_fast::text then
    new.filter_fast := null;
    new.filter_contains := null;
  end if;
  return new;
end $$;
create trigger webhook_endpoints_forget_fast_filter before update of filter_path on webhook_endpoints
  for each row execute function forget_fast_filter();
