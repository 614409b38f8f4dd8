-- Accounts that payhook demo filled: what is in them was made up, so they may be deleted. Those of earlier demos are not
-- guessed by their names.
alter table accounts add column is_demo boolean not null default false;

-- Deleting an account looks for what refers to each row. These rows are few, and so are the entries.
create index commissions_reverses on commissions (account_id, reverses_commission_id)
  where reverses_commission_id is not null;
create index commissions_returns on commissions (account_id, returns_payout_id) where returns_payout_id is not null;
create index refund_items_clawback on refund_items (account_id, clawback_id) where clawback_id is not null;

-- The log of a demo account goes with it: only while features/accounts/removal.ts names that account, and no other row.
create or replace function refuse_change() returns trigger language plpgsql as $$
declare
  removed text := nullif(current_setting('payhook.removed_account', true), '');
begin
  if tg_op = 'DELETE' and removed is not null then
    if tg_level = 'STATEMENT' then return null; end if;
    if old.account_id::text = removed and exists (select from accounts where id = old.account_id and is_demo) then
      return old;
    end if;
  end if;
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_log_keeps_other_accounts before delete on audit_log
  for each row execute function refuse_change();
