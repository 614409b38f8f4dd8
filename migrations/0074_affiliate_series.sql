-- What each affiliate earned, and was paid, by month of the account's time zone, for reports by affiliate and country
-- (src/money/ledger/affiliate-series.ts). The month -infinity is the sum of all months.
-- Locks: SHARE ROW EXCLUSIVE on accounts and commission_series_notes, to add a trigger to each, for a moment each. A chore
-- fills the table afterwards.
-- Time: milliseconds.
create table affiliate_series (
  account_id   uuid not null references accounts,
  month        date not null,
  affiliate_id bigint not null,
  currency     text not null,
  earned       bigint not null,
  refunded     bigint not null,
  voided       bigint not null,
  adjusted     bigint not null,
  paid         bigint not null,
  returned     bigint not null,
  primary key (account_id, month, affiliate_id, currency)
) with (fillfactor = 80);

-- What happened since it was last added up, to affiliate_series and to commission_series. It replaces commission_series_notes,
-- in which servers of the previous version write, and which does not name the affiliate.
create table affiliate_series_notes (
  account_id   uuid not null,
  affiliate_id bigint not null,
  program_id   bigint,
  starts_at    timestamptz not null, -- of a quarter hour
  currency     text not null,
  kind         text not null,
  amount       numeric not null,
  count        bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index affiliate_series_notes_account on affiliate_series_notes (account_id);
alter table affiliate_series_notes replica identity full;

-- Accounts whose months must be added up from the records again: those that existed before this table, those for which a server
-- of the previous version wrote a note, and those whose time zone was changed. Append-only.
create table affiliate_series_due (
  account_id uuid not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index affiliate_series_due_account on affiliate_series_due (account_id);
alter table affiliate_series_due replica identity full;
insert into affiliate_series_due select account_id from payout_books;

create function note_affiliate_series_of_account() returns trigger language plpgsql as $$
begin
  insert into affiliate_series_due (account_id) values (new.id);
  return null;
end $$;
create trigger time_zone_changed after update of time_zone on accounts
  for each row when (old.time_zone is distinct from new.time_zone) execute function note_affiliate_series_of_account();

create function note_affiliate_series_of_notes() returns trigger language plpgsql as $$
begin
  insert into affiliate_series_due (account_id) select distinct account_id from inserted;
  return null;
end $$;
create trigger notes_without_affiliate after insert on commission_series_notes
  referencing new table as inserted for each statement execute function note_affiliate_series_of_notes();
