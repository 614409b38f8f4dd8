-- The day of the account on which its self-billing agreements were last looked at, and the last day of the agreement about which the
-- affiliate got an e-mail, so that there is one for each.
-- Locks: ACCESS EXCLUSIVE on payout_books and affiliate_tax_profiles, for a moment each.
-- Time: milliseconds: nothing is written.
alter table payout_books add column told_agreements date;
alter table affiliate_tax_profiles add column told_agreement date;
