-- The address of an affiliate in the Peppol network, to which an access point sends invoices.
-- Locks: ACCESS EXCLUSIVE on affiliate_tax_profiles, for a moment.
-- Time: milliseconds.
alter table affiliate_tax_profiles add column electronic_address text; -- src/terms/electronic-addresses.ts
