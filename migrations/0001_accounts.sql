-- One account is one merchant. Every tenant table's key begins with the account, so no row can point into another.
create table accounts (
  id               uuid primary key default new_id(),
  name             text not null,
  default_currency text not null default 'usd',
  hold_days        int not null default 0 check (hold_days between 0 and 3650),
  minimum_payout   jsonb not null default '{}',
  updated_at       timestamptz(3) not null default now()
);

-- Directory table: found by the hash of the secret. Revoked keys stay, so that `created_by` can be explained.
create table api_keys (
  id           uuid primary key default new_id(),
  account_id   uuid not null references accounts,
  name         text not null,
  hash         bytea not null unique,
  hint         text not null,
  created_by   text not null,
  last_used_at timestamptz(3),
  revoked_at   timestamptz(3)
);
create unique index api_keys_name on api_keys (account_id, name) where revoked_at is null;
create index api_keys_account on api_keys (account_id, id);

-- The answer of a request that was sent with an Idempotency-Key, written in the transaction of its effect.
create table idempotency_keys (
  account_id   uuid not null references accounts,
  credential   text not null,
  key          text not null,
  request_hash bytea not null,
  status       int,
  headers      jsonb,
  body         text,
  created_at   timestamptz(3) not null default now(),
  primary key (account_id, credential, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
