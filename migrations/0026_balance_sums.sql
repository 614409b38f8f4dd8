-- What all affiliates of an account are owed, by currency and the state of their balances, so that nobody adds up a hundred
-- thousand of them (src/money/ledger/owed.ts). A balance that counts in no sum has no state.
alter table affiliate_balances add column state text;
create table affiliate_balance_sums (
  account_id    uuid not null references accounts,
  currency      text not null,
  state         text not null,
  unpaid        numeric not null,
  pending       numeric not null,
  -- balances, of them with something unpaid, and with something pending
  count         bigint not null,
  unpaid_count  bigint not null,
  pending_count bigint not null,
  primary key (account_id, currency, state)
) with (fillfactor = 50);

-- The account's minimums for which the states were found; null = for none yet.
alter table affiliate_balance_marks add column minimum_payout jsonb;

-- Affiliates that were changed since the states of their balances were found.
create table affiliate_balance_stale (
  account_id   uuid not null,
  affiliate_id bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index affiliate_balance_stale_account on affiliate_balance_stale (account_id);
