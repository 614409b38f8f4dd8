-- A recovery may take the events that its endpoint never got (docs/decisions/0125): it then names no status of the log.
-- Locks: ACCESS EXCLUSIVE on `webhook_recoveries`, for a moment.
-- Time: milliseconds. No row is read: the new check allows more than the one it replaces.
alter table webhook_recoveries drop constraint webhook_recoveries_statuses_check;
alter table webhook_recoveries add constraint webhook_recoveries_statuses_check
  check (statuses <@ '{failed,pending,delivered,cancelled}') not valid;
