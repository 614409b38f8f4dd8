-- Directory table: found by e-mail. A user belongs to one account.
create table users (
  id            uuid primary key default new_id(),
  account_id    uuid not null references accounts,
  email         text not null,               -- in lower case: what somebody types is compared so
  name          text not null,
  role          text not null check (role in ('owner', 'member', 'viewer')),
  password_hash text,                        -- argon2id; null until the invitation was followed
  removed_at    timestamptz(3),              -- removed ones stay, so that what they did can be explained
  updated_at    timestamptz(3) not null default now(),
  unique (account_id, id)
);
create unique index users_email on users (email) where removed_at is null;
create index users_account on users (account_id, id);

-- Directory table: one-time links to choose a password, found by the hash of what is in them.
create table user_links (
  hash       bytea primary key,
  account_id uuid not null references accounts,
  user_id    uuid,                           -- null = makes the first owner of the account
  purpose    text not null check (purpose in ('setup', 'invitation', 'reset')),
  expires_at timestamptz(3) not null,
  used_at    timestamptz(3),
  foreign key (account_id, user_id) references users (account_id, id),
  check ((user_id is null) = (purpose = 'setup'))
);
create index user_links_user on user_links (account_id, user_id);

-- Directory table: found by the hash of the cookie.
create table sessions (
  id           uuid primary key default new_id(),
  hash         bytea not null unique,
  csrf_token   text not null,                -- of no use without the cookie
  account_id   uuid not null,
  user_id      uuid not null,
  user_agent   text,
  address      text,
  last_seen_at timestamptz(3) not null default now(),
  expires_at   timestamptz(3) not null,      -- absolute; idle sessions end sooner
  revoked_at   timestamptz(3),
  foreign key (account_id, user_id) references users (account_id, id)
);
create index sessions_user on sessions (account_id, user_id, id);

-- Attempts to sign in that failed or are under way, by address and by e-mail: limits hold over all processes.
create table sign_in_failures (
  id         uuid primary key default new_id(),
  subject    text not null,                  -- 'address …', or 'email …' with a hash: what is typed there may be a password
  failed_at  timestamptz(3) not null default clock_timestamp()
);
create index sign_in_failures_subject on sign_in_failures (subject, failed_at);
create index sign_in_failures_age on sign_in_failures (failed_at);
