-- Who did what: append-only, written in the transaction of the change.
create table audit_log (
  account_id uuid not null references accounts,
  id         uuid not null default new_id(),
  actor_kind text not null check (actor_kind in ('key', 'user', 'application', 'operator')),
  actor_id   text not null,
  -- the user on whose grant an application acted
  user_id    uuid,
  action     text not null,
  target     text,
  request_id text not null,
  primary key (account_id, id)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
