-- From which sum of a year an account reports to a state, where it differs from the table of the program: cents by two letters.
-- Locks: ACCESS EXCLUSIVE on accounts, for a moment.
-- Time: milliseconds.
alter table accounts add column state_thresholds jsonb not null default '{}';
