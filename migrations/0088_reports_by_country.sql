-- What happened in each month by the current country of the affiliate, and what a payout paid by each method
-- (docs/decisions/0138-reports-read-sums-of-countries-and-payouts.md).
-- Locks: ACCESS EXCLUSIVE on affiliate_series, SHARE ROW EXCLUSIVE on affiliates and payouts, for a moment each. Chores fill the sums
-- afterwards; until then reports read the records.
-- Time: milliseconds, and 0.5 s for a million payouts.

-- The months of affiliate_series, summed by `country`. The country '' is none.
create table affiliate_series_countries (
  account_id uuid not null references accounts,
  month      date not null,
  country    text not null,
  currency   text not null,
  earned     numeric not null,
  refunded   numeric not null,
  voided     numeric not null,
  adjusted   numeric not null,
  paid       numeric not null,
  returned   numeric not null,
  primary key (account_id, month, country, currency)
) with (fillfactor = 50);

-- The months are added up from the records again, so that every one is counted.
insert into affiliate_series_due select id from accounts;
-- The country under which a row is counted. It follows that of the affiliate.
alter table affiliate_series add column country text not null default '';

-- Affiliates whose country was changed since their months were counted. Append-only.
create table affiliate_series_moves (
  account_id   uuid not null,
  affiliate_id bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index affiliate_series_moves_account on affiliate_series_moves (account_id);
alter table affiliate_series_moves replica identity full;
create function note_country_of_affiliate() returns trigger language plpgsql as $$
begin
  insert into affiliate_series_moves (account_id, affiliate_id) values (new.account_id, new.id);
  return null;
end $$;
create trigger country_changed after update of country on affiliates
  for each row when (old.country is distinct from new.country) execute function note_country_of_affiliate();

-- [{method, currency, paid}] of a paid payout, in minor units; null until a chore has added up its lines.
alter table payouts add column paid_by_method json;
create index payouts_to_add_up on payouts (account_id) where status = 'paid' and paid_by_method is null;
