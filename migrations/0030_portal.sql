-- The portal: the webhooks part of the dashboard for whoever receives at some endpoints (src/webhooks/portal).
alter table accounts add column portal_origins jsonb not null default '[]'; -- pages that may show it in a frame

alter table webhook_endpoints
  add column owner text, -- the merchant's own name of who receives there; null = nobody's
  -- somebody chose its URL in a portal, so networks that the operator allowed do not count
  add column public_only boolean not null default false;

-- Directory table: found by the hash of the secret in the link, then by that of the token it was exchanged for.
create table portal_links (
  id            uuid primary key default new_id(),
  account_id    uuid not null references accounts,
  endpoint_id   uuid not null,
  owner         text,             -- of the endpoint when the link was made: with another one it is out of reach
  is_of_owner   boolean not null, -- all endpoints of the owner; false = that one alone
  is_read_only  boolean not null,
  event_types   text[],           -- what its user may subscribe to; null = all
  filter        json,             -- the filter that goes with these types
  hash          bytea not null unique,
  expires_at    timestamptz(3) not null,
  used_at       timestamptz(3),
  token_hash    bytea unique,
  ends_at       timestamptz(3),   -- when the portal that it opened ends
  revoked_at    timestamptz(3),
  created_by    text not null,
  foreign key (account_id, endpoint_id) references webhook_endpoints,
  check (not is_of_owner or owner is not null),
  check ((used_at is null) = (token_hash is null) and (used_at is null) = (ends_at is null))
);
create index portal_links_account on portal_links (account_id, id);
create index portal_links_expiry on portal_links (expires_at);

alter table audit_log drop constraint audit_log_actor_kind_check,
  add check (actor_kind in ('key', 'user', 'application', 'operator', 'portal'));
