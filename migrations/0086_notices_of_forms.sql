-- The last day of the form about which the affiliate got an e-mail, so that there is one for each form.
-- Locks: ACCESS EXCLUSIVE on affiliate_tax_profiles, for a moment.
-- Time: milliseconds: nothing is written.
alter table affiliate_tax_profiles add column told_until date;
