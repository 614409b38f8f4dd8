create table affiliate_programs (
  account_id uuid not null references accounts,
  id         bigint generated always as identity,
  name       text not null,
  hold_days  int check (hold_days between 0 and 3650),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (account_id, id)
);
create unique index affiliate_programs_name on affiliate_programs (account_id, lower(name));

create table affiliates (
  account_id          uuid not null references accounts,
  id                  bigint generated always as identity,
  external_id         text,
  email               text not null,
  name_first          text,
  name_last           text,
  slug                text,
  paypal_email        text,
  payout_method       text check (payout_method in ('paypal', 'wise', 'other')),
  is_ready_for_payout boolean not null default true,
  status              text not null default 'active' check (status in ('active', 'inactive')),
  minimum_payout      jsonb,
  created_at          timestamptz(3) not null default now(),
  updated_at          timestamptz(3) not null default now(),
  primary key (account_id, id)
);
create unique index affiliates_external_id on affiliates (account_id, external_id);
create unique index affiliates_email on affiliates (account_id, lower(email));
create index affiliates_created on affiliates (account_id, created_at, id);

-- One row to lock for whatever changes the membership or the amounts of an account's payouts.
create table payout_books (
  account_id  uuid primary key references accounts,
  next_number bigint not null default 1
);

create table payouts (
  account_id       uuid not null references accounts,
  id               uuid not null default new_id(),
  number           bigint not null,
  status           text not null default 'unpaid' check (status in ('unpaid', 'paid')),
  filters          jsonb,
  search           text,
  as_of            timestamptz(3) not null,
  revision         int not null default 1,
  affiliate_count  bigint not null default 0,
  commission_count bigint not null default 0,
  -- sums per currency and per reason of exclusion, written by the statement that changes what they are sums of
  totals           json not null default '[]',
  excluded         json not null default '[]',
  created_by       text not null,
  paid_by          text,
  paid_at          timestamptz(3),
  updated_at       timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, id),
  unique (account_id, number),
  check ((status = 'paid') = (paid_at is not null) and (status = 'paid') = (paid_by is not null))
);
-- Of two creates at once exactly one wins.
create unique index payouts_one_unpaid on payouts (account_id) where status = 'unpaid';

-- A line is one affiliate in a payout. Name and destination follow the affiliate while the payout is unpaid and
-- are copied here when it is completed: the files of a paid payout are the same for ever.
create table payout_lines (
  account_id          uuid not null,
  payout_id           uuid not null,
  affiliate_id        bigint not null,
  is_paid             boolean,
  payment_reference   text,
  name_first          text,
  name_last           text,
  email               text,
  paypal_email        text,
  payout_method       text,
  is_ready_for_payout boolean,
  returned_at         timestamptz(3),
  return_reason       text,
  return_reference    text,
  primary key (account_id, payout_id, affiliate_id),
  foreign key (account_id, payout_id) references payouts on delete cascade,
  foreign key (account_id, affiliate_id) references affiliates
);
create index payout_lines_affiliate on payout_lines (account_id, affiliate_id);

-- What a line is worth in each currency. Once the payout is completed these never change.
create table payout_line_totals (
  account_id       uuid not null,
  payout_id        uuid not null,
  affiliate_id     bigint not null,
  currency         text not null,
  amount           bigint not null,
  commission_count bigint not null,
  primary key (account_id, payout_id, affiliate_id, currency),
  foreign key (account_id, payout_id, affiliate_id) references payout_lines on delete cascade
);

-- Who was left out and why, a row per affiliate, currency and reason.
create table payout_exclusions (
  account_id       uuid not null,
  payout_id        uuid not null,
  affiliate_id     bigint not null,
  currency         text not null,
  reason           text not null
    check (reason in ('below_minimum', 'negative_balance', 'on_hold', 'affiliate_inactive')),
  amount           bigint not null,
  commission_count bigint not null,
  primary key (account_id, payout_id, affiliate_id, currency, reason),
  foreign key (account_id, payout_id) references payouts on delete cascade,
  foreign key (account_id, affiliate_id) references affiliates
);

-- "Paid" is not a column: at most one payout of an account is unpaid, so a row in any other payout is paid.
create table commissions (
  account_id               uuid not null,
  id                       uuid not null default new_id(),
  external_id              text collate "C" not null,
  affiliate_id             bigint not null,
  program_id               bigint,
  payout_id                uuid,
  type                     text not null
    check (type in ('sale', 'recurring', 'bonus', 'adjustment', 'clawback')),
  currency                 text not null,
  amount                   bigint not null,
  original_amount          bigint not null,
  refunded_amount          bigint not null default 0,
  sale_amount              bigint,
  rate_bps                 int,
  order_id                 text,
  customer_email           text,
  product_id               text,
  product_name             text,
  description              text,
  occurred_at              timestamptz(3) not null,
  available_at             timestamptz(3) not null,
  voided_at                timestamptz(3),
  void_reason              text,
  -- a clawback: the paid commission it takes back
  reverses_commission_id   uuid,
  -- an adjustment for money that came back: the payout it was sent in
  returns_payout_id        uuid,
  -- held for review: available_at is infinity, and this is what it goes back to
  held_available_at        timestamptz(3),
  metadata                 jsonb,
  updated_at               timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, id),
  unique (account_id, external_id),
  foreign key (account_id, affiliate_id) references affiliates,
  foreign key (account_id, program_id) references affiliate_programs,
  foreign key (account_id, payout_id) references payouts,
  foreign key (account_id, reverses_commission_id) references commissions,
  foreign key (account_id, returns_payout_id) references payouts,
  check (type in ('adjustment', 'clawback') or original_amount > 0),
  check ((type = 'clawback') = (reverses_commission_id is not null)),
  check (voided_at is null or payout_id is null),
  check ((available_at = 'infinity') = (held_available_at is not null))
);
-- How many commissions ever came in, as deltas that are folded now and then: an exact total without counting them.
create table commission_arrivals (
  account_id uuid not null references accounts,
  id         uuid not null default new_id(),
  count      bigint not null,
  primary key (account_id, id)
);

-- A create writes an entry of every whole index and of commissions_payout for each row it takes: keep them few. The
-- partial ones over open and voided rows cost it nothing, and are the paths of the lists by status.
create index commissions_affiliate on commissions (account_id, affiliate_id, id);
create index commissions_payout on commissions (account_id, payout_id, id) where payout_id is not null;
create index commissions_open on commissions (account_id, id) where payout_id is null and voided_at is null;
create index commissions_available on commissions (account_id, available_at)
  where payout_id is null and voided_at is null;
create index commissions_voided on commissions (account_id, id) where voided_at is not null;

-- The shape in which commissions come in, from JSON and from files.
create type commission_input as (
  line int, affiliate_id bigint, external_id text, program_id bigint, type text, currency text, amount bigint,
  sale_amount bigint, rate_bps int, order_id text, customer_email text, product_id text, product_name text,
  description text, occurred_at timestamptz(3), metadata jsonb
);
