-- What is of no more use goes (docs/decisions/0084).
-- Locks: SHARE on sessions while their two indexes are built; ACCESS EXCLUSIVE on imports, which has a row for each file, while its
-- rows are checked. Nothing is rewritten.
-- Time: about 2 s for a million sessions; the other tables are small.

create index sessions_expiry on sessions (expires_at);
create index sessions_revocation on sessions (revoked_at) where revoked_at is not null;

-- When the lines were deleted that an undo needs; null = the import can be undone. The check is for servers of the version before, which
-- do not look at it: their undo fails, instead of taking back nothing.
alter table imports
  add column undo_ended_at timestamptz(3),
  add constraint undo_has_what_it_needs check (undo_ended_at is null or undone_at is null or undone_at <= undo_ended_at);
create index imports_undoable on imports (id) where kind = 'affiliates' and undo_ended_at is null;

-- The audit log stays append-only. A row goes with the demo account that is being deleted, or once it is older than the retention that
-- the transaction names, and than 90 days. It changes only in its target, where that names a person who is being erased.
create or replace function refuse_change() returns trigger language plpgsql as $$
declare
  removed text := nullif(current_setting('payhook.removed_account', true), '');
  erasing text := nullif(current_setting('payhook.erasing_account', true), '');
  kept_from text := nullif(current_setting('payhook.audit_kept_from', true), '');
begin
  if tg_op = 'DELETE' and coalesce(removed, kept_from) is not null then
    if tg_level = 'STATEMENT' then return null; end if;
    if old.account_id::text = removed and exists (select from accounts where id = old.account_id and is_demo) then
      return old;
    end if;
    if old.id < id_floor(least(kept_from::timestamptz, now() - interval '90 days')) and kept_from is not null then
      return old;
    end if;
  end if;
  if tg_op = 'UPDATE' and erasing is not null then
    if tg_level = 'STATEMENT' then return null; end if;
    if old.account_id::text = erasing and to_jsonb(new) - 'target' = to_jsonb(old) - 'target'
      and exists (select from erasures where account_id = old.account_id and step <> 'done') then
      return new;
    end if;
  end if;
  raise exception 'the audit log is append-only';
end $$;
