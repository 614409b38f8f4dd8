-- Directory table: a person, found by e-mail address. The password and the sessions are the person's; what the person
-- may do is said by the users, of whom a person is one in each account.
create table people (
  id            uuid primary key default new_id(),
  email         text not null unique,        -- in lower case: what somebody types is compared so
  password_hash text,                        -- argon2id; null while the person is a member of no account
  updated_at    timestamptz(3) not null default now()
);
-- an address has one user at most who was not removed
insert into people (email, password_hash)
  select email, max(password_hash) filter (where removed_at is null) from users group by email;

alter table users
  add column person_id uuid references people,
  add column joined_at timestamptz(3);       -- null until the invitation was accepted
update users u set person_id = p.id, joined_at = case when u.password_hash is not null then id_time(u.id) end
  from people p where p.email = u.email;
drop index users_email;
alter table users
  alter column person_id set not null,
  drop column email,
  drop column password_hash;
create unique index users_person on users (account_id, person_id) where removed_at is null;
create index users_of_person on users (person_id) where removed_at is null;

-- An owner's link may not set the password of somebody who is a member elsewhere; the operator's may.
alter table user_links add column by_operator boolean not null default false;

-- What a user granted ends when they are no owner any more.
alter table oauth_grants drop constraint oauth_grants_revoked_because_check;
alter table oauth_grants add constraint oauth_grants_revoked_because_check check (
  revoked_because in ('merchant', 'application', 'reuse', 'deleted', 'user_removed', 'user_not_owner'));
update oauth_grants g set revoked_at = now(), revoked_because = 'user_not_owner'
  from users u
  where u.account_id = g.account_id and u.id = g.user_id and u.role <> 'owner' and g.revoked_at is null;
