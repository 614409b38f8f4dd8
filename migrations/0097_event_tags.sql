-- Events may have tags, by which they are found again (docs/decisions/0124).
-- Locks: none on existing tables.
-- Time: milliseconds. No row is read.

-- The tags of each event that has some, in weeks like the events.
create table event_tags (
  account_id uuid not null,
  event_id   uuid not null,
  tag        text not null,
  primary key (account_id, event_id, tag)
) partition by range (event_id);
create index event_tags_tag on event_tags (account_id, tag, event_id);
