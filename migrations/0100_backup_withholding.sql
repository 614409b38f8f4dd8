-- Whether payouts withhold 24 % for the IRS. What is withheld from a line is a tax below zero: it leaves less for the bank.
-- Locks: ACCESS EXCLUSIVE on accounts, payout_line_totals and payout_returns, for a moment each; the new rules of the large tables
-- are checked for new rows only, because they allow what the old ones did.
-- Time: milliseconds.
alter table accounts add column backup_withholding text not null default 'none'; -- src/people/accounts/record.ts
alter table accounts add constraint accounts_backup_withholding check (backup_withholding in ('none', 'at_threshold', 'always'));

alter table payout_line_totals drop constraint payout_line_totals_tax;
alter table payout_line_totals add constraint payout_line_totals_tax check (
  (tax_amount = 0 or tax_terms is not null) and case when tax_amount >= 0 then
    carried_tax_amount between 0 and tax_amount and returned_tax_amount between 0 and tax_amount - carried_tax_amount
  else tax_amount > -amount and tax_terms ? 'withholding_rate'
    and carried_tax_amount between tax_amount and 0 and returned_tax_amount between tax_amount - carried_tax_amount and 0
  end) not valid;

alter table payout_returns drop constraint payout_returns_tax;
alter table payout_returns add constraint payout_returns_tax check (tax_amount > -amount) not valid;
