-- Applications of third parties (RFC 6749 section 2), registered by an account. Any account's users may grant them access.
create table oauth_applications (
  account_id    uuid not null references accounts, -- who registered it
  id            uuid not null default new_id(),
  name          text not null,
  kind          text not null check (kind in ('confidential', 'public')),
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 20),
  scopes        text[] not null check (cardinality(scopes) > 0),
  secret_hash   bytea,
  secret_hint   text,
  deleted_at    timestamptz(3),
  updated_at    timestamptz(3) not null default now(),
  primary key (account_id, id),
  check ((secret_hash is null) = (kind = 'public'))
);
create unique index oauth_applications_id on oauth_applications (id);

-- What a merchant granted: one connection between an account and an application.
create table oauth_grants (
  account_id         uuid not null references accounts, -- whose data it opens
  id                 uuid not null default new_id(),
  application_id     uuid not null references oauth_applications (id),
  user_id            uuid not null,
  scopes             text[] not null check (cardinality(scopes) > 0),
  activated_at       timestamptz(3),           -- when its code was exchanged; before that nothing can use it
  last_used_at       timestamptz(3),
  revoked_at         timestamptz(3),
  revoked_because    text check (revoked_because in ('merchant', 'application', 'reuse', 'deleted', 'user_removed')),
  primary key (account_id, id),
  foreign key (account_id, user_id) references users (account_id, id),
  check ((revoked_at is null) = (revoked_because is null))
);
create unique index oauth_grants_id on oauth_grants (id);
create index oauth_grants_application on oauth_grants (application_id);
create index oauth_grants_user on oauth_grants (account_id, user_id);
create index oauth_grants_unused on oauth_grants (id) where activated_at is null;

-- Directory table: an authorization code (RFC 6749 section 4.1.2), good for one attempt.
create table oauth_codes (
  hash           bytea primary key,
  grant_id       uuid not null references oauth_grants (id),
  redirect_uri   text not null,
  challenge      text,                       -- RFC 7636, S256
  expires_at     timestamptz(3) not null,
  used_at        timestamptz(3)              -- an attempt with it was made, whatever came of that
);
create index oauth_codes_grant on oauth_codes (grant_id);

-- Directory table: access and refresh tokens.
create table oauth_tokens (
  hash       bytea primary key,
  kind       text not null check (kind in ('access', 'refresh')),
  grant_id   uuid not null references oauth_grants (id),
  scopes     text[] not null,
  expires_at timestamptz(3) not null,
  used_at    timestamptz(3)                  -- when a refresh token was rotated away
);
create index oauth_tokens_grant on oauth_tokens (grant_id);
create index oauth_tokens_age on oauth_tokens (expires_at);
