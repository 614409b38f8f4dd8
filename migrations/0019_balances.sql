-- What each affiliate is owed and was paid, a row per currency, so that no list adds up commissions
-- (src/money/ledger/balances.ts). `unpaid` and `pending` are of commissions in no payout, as of the account's mark.
create table affiliate_balances (
  account_id   uuid not null references accounts,
  affiliate_id bigint not null,
  currency     text not null,
  unpaid       numeric not null,
  pending      numeric not null,
  paid         numeric not null,
  last_paid_at timestamptz(3),
  primary key (account_id, affiliate_id, currency)
) with (fillfactor = 80);
create index affiliate_balances_unpaid on affiliate_balances (account_id, currency, unpaid, affiliate_id);

-- What changed since they were last added up. Append-only: nobody who writes commissions waits for somebody else.
create table affiliate_balance_notes (
  account_id   uuid not null,
  affiliate_id bigint not null,
  currency     text not null,
  -- of a commission that came in: the affiliate earned in it
  program_id   bigint,
  -- of what is owed; -infinity = before the mark
  available_at timestamptz(3) not null,
  owed         numeric not null,
  paid         numeric not null,
  last_paid_at timestamptz(3)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index affiliate_balance_notes_account on affiliate_balance_notes (account_id);

-- Up to when what becomes available counts as unpaid in the sums; without a row since the account was made.
create table affiliate_balance_marks (
  account_id   uuid primary key references accounts,
  available_at timestamptz(3) not null
);

-- Who ever earned in a program.
create table program_affiliates (
  account_id   uuid not null references accounts,
  program_id   bigint not null,
  affiliate_id bigint not null,
  primary key (account_id, program_id, affiliate_id)
);

-- A debt or credit for money that came back is exempt from minimums while it is owed: found without a walk.
create index commissions_owed_again on commissions (account_id, affiliate_id, currency)
  where returns_payout_id is not null and payout_id is null and voided_at is null;

insert into affiliate_balance_marks select id, now_ms() from accounts;
insert into affiliate_balances (account_id, affiliate_id, currency, unpaid, pending, paid, last_paid_at)
select account_id, affiliate_id, currency, sum(unpaid), sum(pending), sum(paid), max(paid_at)
from (
  select account_id, affiliate_id, currency, case when available_at <= now_ms() then amount else 0 end as unpaid,
         case when available_at <= now_ms() then 0 else amount end as pending, 0 as paid, null::timestamptz as paid_at
  from commissions where payout_id is null and voided_at is null
  union all
  select t.account_id, t.affiliate_id, t.currency, 0, 0, t.amount - t.carried_amount - t.returned_amount, p.paid_at
  from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id
  where t.is_paid) part
group by 1, 2, 3;
insert into program_affiliates
select distinct account_id, program_id, affiliate_id from commissions where program_id is not null;
