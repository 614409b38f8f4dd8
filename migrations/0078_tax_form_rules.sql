-- Whether who has no valid tax form is left out of payouts, and which reminder of forms that lapse was last sent.
-- Locks: ACCESS EXCLUSIVE on accounts, payout_books and payout_exclusions, for a moment each; the new rule of payout_exclusions is
-- checked for new rows only, because it allows what the old one did.
-- Time: milliseconds.
alter table accounts
  add column payout_form text not null default 'none'; -- src/people/accounts/record.ts
alter table accounts add constraint accounts_payout_form check (payout_form in ('none', 'at_threshold', 'always'));

alter table payout_books add column told_forms text; -- the year and the number of days

alter table payout_exclusions drop constraint payout_exclusions_reason_check;
alter table payout_exclusions add constraint payout_exclusions_reason_check check (reason in
  ('below_minimum', 'negative_balance', 'on_hold', 'affiliate_inactive', 'not_ready', 'form_missing', 'form_expired')) not valid;
