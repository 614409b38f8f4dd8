-- Locks: ACCESS EXCLUSIVE on four tables of notes that wait to be folded, for a moment each.
-- Time: milliseconds.
--
-- These tables have no key. Logical replication, by which Citus moves a schema, then needs all columns of a deleted row to find it. With
-- the default `wal_level` nothing more is written.
alter table affiliate_balance_notes replica identity full;
alter table affiliate_balance_stale replica identity full;
alter table commission_series_notes replica identity full;
alter table delivery_count_deltas replica identity full;
