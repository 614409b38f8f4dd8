-- Who downloaded which payment file, at which revision of its payout. Written before the first byte of the file is sent.
create table payment_file_downloads (
  account_id    uuid not null,
  payout_id     uuid not null,
  id            uuid not null default new_id(),
  revision      int not null,
  format        text not null,
  currency      text,         -- null = all of the payout's
  part          int,          -- null = the file is whole
  actor_kind    text not null check (actor_kind in ('key', 'user', 'application', 'operator')),
  actor_id      text not null,
  primary key (account_id, payout_id, id),
  foreign key (account_id, payout_id) references payouts on delete cascade
);
