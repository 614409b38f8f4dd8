-- A verification of a payee may have been answered through an interface of a bank or provider, without a payment file.
-- Locks: ACCESS EXCLUSIVE on payee_verifications, for a moment.
-- Time: milliseconds.
alter table payee_verifications alter column payment_file drop not null;
