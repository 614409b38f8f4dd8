-- Who is switched off for payouts by the merchant is left out of one, with a reason of its own.
alter table payout_exclusions drop constraint payout_exclusions_reason_check;
alter table payout_exclusions add constraint payout_exclusions_reason_check
  check (reason in ('below_minimum', 'negative_balance', 'on_hold', 'affiliate_inactive', 'not_ready'));

-- Whose midnight ends a day, by its IANA name; and above what PayPal sends no single payment, minor units per currency.
alter table accounts
  add column time_zone text not null default 'UTC',
  add column paypal_payment_limit jsonb not null default '{"usd": 2000000}';

alter table affiliates
  add column legal_type text not null default 'person' check (legal_type in ('person', 'business')),
  -- ISO 3166-1 alpha-2, upper case
  add column country text check (country ~ '^[A-Z]{2}$'),
  add column metadata jsonb;
alter table affiliate_programs add column metadata jsonb;
alter table payouts add column metadata jsonb;

-- A file of a paid payout says for ever what it said. Until now everybody was written as a person.
alter table payout_lines add column legal_type text not null default 'person';
