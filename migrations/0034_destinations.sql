-- Where affiliates are paid: one destination for all currencies, and perhaps others for single currencies. A row is not
-- changed: another one replaces it, so that a paid line goes on naming the account that it was paid to.
create table affiliate_destinations (
  account_id     uuid not null,
  id             uuid not null default new_id(),
  affiliate_id   bigint not null,
  currency       text,           -- null = every currency without a destination of its own
  type           text not null check (type in ('paypal', 'wise', 'sepa', 'ach', 'other')),
  account_holder text,
  holder_in_files text,          -- the same in the characters that banks take
  number         bytea,          -- IBAN or account number, sealed; null = lost with the secret key
  number_mark    bytea,          -- its keyed hash, by which equal ones are found
  last_four      text,
  country        text,           -- of the IBAN
  bic            text,
  routing_number text,
  account_type   text check (account_type in ('checking', 'savings')),
  created_at     timestamptz(3) not null default now(),
  replaced_at    timestamptz(3), -- null = in force
  primary key (account_id, id),
  foreign key (account_id, affiliate_id) references affiliates on delete cascade,
  check ((type in ('sepa', 'ach')) = (last_four is not null)),
  check ((type in ('sepa', 'ach')) = (holder_in_files is not null)),
  check ((type = 'sepa') = (country is not null)),
  check ((type = 'ach') = (routing_number is not null))
);
create index affiliate_destinations_affiliate on affiliate_destinations (account_id, affiliate_id);
create unique index affiliate_destinations_in_force
  on affiliate_destinations (account_id, affiliate_id, coalesce(currency, '')) where replaced_at is null;
create index affiliate_destinations_mark on affiliate_destinations (account_id, number_mark)
  where replaced_at is null and number_mark is not null;

-- The destination that a line was paid to; null = the affiliate had none but the fields of its record.
alter table payout_line_totals
  add column destination_id uuid,
  add foreign key (account_id, destination_id) references affiliate_destinations;
create index payout_line_totals_destination on payout_line_totals (account_id, destination_id)
  where destination_id is not null;
