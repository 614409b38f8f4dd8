-- The SIREN or SIRET of an affiliate, which the invoices of French businesses show.
-- Locks: ACCESS EXCLUSIVE on affiliate_tax_profiles, for a moment.
-- Time: milliseconds.
alter table affiliate_tax_profiles add column siren text; -- src/terms/tax-ids.ts
