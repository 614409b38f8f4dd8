-- Affiliates whose person is being erased, and was (src/app/erasures.ts).
create table erasures (
  account_id   uuid not null,
  affiliate_id bigint not null,
  requested_at timestamptz(3) not null default clock_timestamp(),
  -- what the person was called, as long as it is looked for: e-mail addresses, names and ids of the merchant's
  addresses    text[] not null,
  names        text[] not null,
  external_ids text[] not null,
  -- what is looked through, and up to which row of it that was done
  step         text not null default 'commissions' check (step in ('commissions', 'log', 'rest', 'done')),
  cursor       uuid not null default '00000000-0000-0000-0000-000000000000',
  completed_at timestamptz(3),
  primary key (account_id, affiliate_id),
  foreign key (account_id, affiliate_id) references affiliates,
  check ((step = 'done') = (completed_at is not null)),
  check (step <> 'done' or cardinality(addresses || names || external_ids) = 0)
);
create index erasures_open on erasures (requested_at) where step <> 'done';

-- The audit log stays append-only. A row goes only with the demo account that is being deleted, and changes only in its
-- target, where that names a person who is being erased (src/people/audit/erase.ts).
create or replace function refuse_change() returns trigger language plpgsql as $$
declare
  removed text := nullif(current_setting('payhook.removed_account', true), '');
  erasing text := nullif(current_setting('payhook.erasing_account', true), '');
begin
  if tg_op = 'DELETE' and removed is not null then
    if tg_level = 'STATEMENT' then return null; end if;
    if old.account_id::text = removed and exists (select from accounts where id = old.account_id and is_demo) then
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
create trigger audit_log_keeps_its_rows before update on audit_log for each row execute function refuse_change();
