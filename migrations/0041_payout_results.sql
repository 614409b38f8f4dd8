-- Files of banks and providers that said what became of the payments of a payout. What they said is not kept: a person decides
-- on it, and Complete and returns keep the decision.
create table payout_results (
  account_id    uuid not null,
  payout_id     uuid not null,
  id            uuid not null default new_id(),
  kind          text not null check (kind in ('camt.053', 'camt.054', 'pain.002', 'paypal', 'wise', 'paid_list')),
  sha256        text not null,  -- hexadecimal
  file_bytes    bigint not null,
  revision      int not null,   -- of the payout when the file came
  counts        jsonb not null,
  actor_kind    text not null check (actor_kind in ('key', 'user', 'application', 'operator')),
  actor_id      text not null,
  primary key (account_id, payout_id, id),
  foreign key (account_id, payout_id) references payouts on delete cascade
);

-- The digest of the bytes that were sent, hexadecimal; null = the download was cut off, or is older than this.
alter table payment_file_downloads add column sha256 text;
