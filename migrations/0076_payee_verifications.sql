-- What the bank of a payee answered when it was asked whether the name of a destination is that of the account (Verification of
-- Payee): the last answer for each destination. A destination is replaced, never changed, so an answer stays true for its row.
-- Locks: SHARE ROW EXCLUSIVE on affiliate_destinations, for the foreign key of an empty table, and ACCESS EXCLUSIVE on payout_results,
-- which has a row for each uploaded file, for a moment each.
-- Time: milliseconds.
create table payee_verifications (
  account_id     uuid not null,
  destination_id uuid not null,
  affiliate_id   bigint not null,
  result         text not null,  -- src/money/ledger/verifications.ts
  bank_name      text,           -- the name that the bank has; null = it gives none
  replaced_name  text,           -- the account holder that the name of the bank replaced
  reason_code    text,
  reason         text,
  payment_file   text not null,  -- the MsgId of the file that was checked
  verified_at    timestamptz(3) not null default clock_time(),
  primary key (account_id, destination_id),
  foreign key (account_id, destination_id) references affiliate_destinations on delete cascade
);
create index payee_verifications_affiliate on payee_verifications (account_id, affiliate_id);

alter table payout_results drop constraint payout_results_kind_check;
alter table payout_results add constraint payout_results_kind_check
  check (kind in ('camt.053', 'camt.054', 'pain.002', 'verification', 'paypal', 'wise', 'paid_list'));
