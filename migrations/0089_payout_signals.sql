-- What may point to fraud in payouts: which rules an account has, and what was found in each payout, kept as evidence.
-- Locks: ACCESS EXCLUSIVE on accounts and SHARE ROW EXCLUSIVE on payouts, for the foreign key of an empty table, for a moment each.
-- Time: milliseconds.
alter table accounts add column payout_signals jsonb not null default '{}'; -- src/people/accounts/payout-signals.ts

create table payout_signals (
  account_id     uuid not null,
  payout_id      uuid not null,
  affiliate_id   bigint not null,
  currency       text not null,
  rule           text not null,  -- src/terms/payout-signals.ts
  revision       int not null,   -- of the payout, in which it was found
  ended_revision int,            -- in which it was gone; null = it holds
  amount         bigint not null, -- of the line when it was found
  details        jsonb not null,
  blocks         boolean not null,
  found_at       timestamptz(3) not null default clock_time(),
  reviewed_by    uuid,           -- the user who reviewed it
  reviewed_at    timestamptz(3),
  review_note    text,
  primary key (account_id, payout_id, affiliate_id, currency, rule, revision),
  foreign key (account_id, payout_id) references payouts on delete cascade,
  constraint payout_signals_reviewed check ((reviewed_by is null) = (reviewed_at is null))
);
