-- What banks correct in where affiliates are paid (notification of change in a NACHA return file): proposed, until a person accepts or
-- dismisses it. Trace numbers of payment files begin with the bank they were made for, which an account may change later.
-- Locks: SHARE ROW EXCLUSIVE on affiliate_destinations, for the foreign key of an empty table; ACCESS EXCLUSIVE on payout_results, which has
-- a row for each uploaded file, and on payment_files, for a moment each.
-- Time: milliseconds.
create table destination_corrections (
  account_id      uuid not null,
  id              uuid not null default new_id(),
  destination_id  uuid not null,  -- the destination that the payment went to
  affiliate_id    bigint not null,
  payout_id       uuid not null,
  code            text not null,  -- C01 to C07: src/terms/ach-codes.ts
  account_holder  text,           -- null = this is right, as in the columns below
  routing_number  text,
  account_type    text check (account_type in ('checking', 'savings')),
  number          bytea,          -- the account number, sealed; null = right, or lost with the secret key
  number_mark     bytea,
  last_four       text,           -- of the account number; null = right
  received_on     date not null,
  due_on          date not null,  -- six banking days later
  decision        text check (decision in ('accepted', 'dismissed')),
  actor_kind      text check (actor_kind in ('key', 'user', 'application', 'operator')),
  actor_id        text,
  decided_at      timestamptz(3),
  primary key (account_id, id),
  unique (account_id, payout_id, destination_id, code),
  foreign key (account_id, destination_id) references affiliate_destinations on delete cascade
);
create index destination_corrections_affiliate on destination_corrections (account_id, affiliate_id);

alter table payment_files add column originating_dfi text;

alter table payout_results drop constraint payout_results_kind_check;
alter table payout_results add constraint payout_results_kind_check
  check (kind in ('camt.053', 'camt.054', 'pain.002', 'verification', 'nacha', 'paypal', 'wise', 'paid_list'));
