-- Who an affiliate is to a tax office: what they signed, kept beside what the shop says of them (affiliates.country,
-- affiliates.legal_type), which the shop may change at any time.
create table affiliate_tax_profiles (
  account_id    uuid not null,
  id            uuid not null default new_id(),
  affiliate_id  bigint not null,
  legal_type    text not null check (legal_type in ('person', 'business')),
  legal_name    text not null,
  country       text not null,
  address       jsonb not null,
  tax_id_type   text check (tax_id_type in ('us_ssn', 'us_itin', 'us_ein', 'vat', 'other')),
  number        bytea,            -- the tax id, sealed; null = lost with the secret key
  number_mark   bytea,            -- its keyed hash, by which equal ones are found
  ending        text,             -- what is shown of it
  form          text check (form in ('w9', 'w8ben', 'w8bene', 'w8eci', 'w8exp', 'w8imy', 'vat_registration', 'other')),
  signed_on     date,
  form_document text,             -- where the merchant keeps the signed form
  self_billing  jsonb,            -- the agreement that the merchant writes the affiliate's invoices
  created_at    timestamptz(3) not null default now(),
  updated_at    timestamptz(3) not null default now(),
  primary key (account_id, id),
  unique (account_id, affiliate_id),
  foreign key (account_id, affiliate_id) references affiliates on delete cascade,
  check ((tax_id_type is null) = (ending is null)),
  check ((form is null) = (signed_on is null))
);
create index affiliate_tax_profiles_mark on affiliate_tax_profiles (account_id, number_mark) where number_mark is not null;

-- The merchant's own side of invoices and reports. It is printed on its invoices: it is not sealed.
alter table accounts add column tax_profile jsonb;
