-- Whether commissions include the tax, and the tax that a line pays on top of them.
-- Locks: ACCESS EXCLUSIVE on accounts, affiliates, payout_line_totals and payout_returns, for a moment each; the rules of the large
-- tables are checked for new rows only, because every existing row has the default.
-- Time: milliseconds.
alter table accounts add column commissions_are text not null default 'gross';
alter table accounts add constraint accounts_commissions_are check (commissions_are in ('net', 'gross'));

alter table affiliates add column commissions_are text; -- null = as the account says
alter table affiliates add constraint affiliates_commissions_are check (commissions_are in ('net', 'gross')) not valid;

alter table payout_line_totals
  add column tax_terms           jsonb,                     -- null = the amount includes the tax; src/money/ledger/tax-terms.ts
  add column tax_amount          bigint not null default 0, -- on top of the amount
  add column carried_tax_amount  bigint not null default 0, -- of the carried amount: not paid
  add column returned_tax_amount bigint not null default 0;
alter table payout_line_totals add constraint payout_line_totals_tax check (
  tax_amount >= 0 and (tax_amount = 0 or tax_terms is not null) and carried_tax_amount between 0 and tax_amount
  and returned_tax_amount between 0 and tax_amount - carried_tax_amount) not valid;

alter table payout_returns add column tax_amount bigint not null default 0; -- what came back is amount + tax_amount
alter table payout_returns add constraint payout_returns_tax check (tax_amount >= 0) not valid;
