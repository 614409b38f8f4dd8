-- How long the leases of a worker last: none that begins now ends before the shortest of them (docs/decisions/0086).
-- Null in a row that a server of the version before wrote.
-- Locks: ACCESS EXCLUSIVE on workers, which has a row for each process.
-- Time: milliseconds.

alter table workers add column lease_ms int check (lease_ms > 0);
