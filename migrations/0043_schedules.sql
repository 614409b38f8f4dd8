-- Schedules: they prepare a payout on a day of each week or month, and a person completes it.
create table payout_schedules (
  account_id     uuid not null references accounts,
  id             uuid not null default new_id(),
  name           text not null,
  every          text not null check (every in ('week', 'month')),
  day            int not null check (day between 1 and case every when 'week' then 7 else 31 end),
  filters        jsonb,
  search         text not null,
  ignore_minimum boolean not null,
  is_active      boolean not null,
  -- who last changed it: the creator of its payouts, whom approval is about
  maker_kind     text not null,
  maker_id       text not null,
  maker_user     uuid,
  next_on        date not null,
  last_on        date,           -- the day it was last due
  last_at        timestamptz(3),
  last_outcome   text check (last_outcome in ('created', 'empty', 'refused')),
  last_reason    text,
  last_payout_id uuid,           -- which may have been deleted since
  created_at     timestamptz(3) not null default now(),
  updated_at     timestamptz(3) not null default now(),
  primary key (account_id, id),
  check ((last_on is null) = (last_outcome is null) and (last_on is null) = (last_at is null))
);
create index payout_schedules_due on payout_schedules (next_on) where is_active;

-- The payout, and the revision it was last decided at, that people were last told to approve.
alter table payout_books add column told_approval text;
