-- What was earned, refunded, voided, adjusted, paid and what came back, by the quarter hour, hour and day (UTC) in which it
-- happened (src/money/ledger/series.ts). A program of 0 is all of them, and what is of none.
create table commission_series (
  account_id uuid not null references accounts,
  program_id bigint not null,
  span       text not null check (span in ('day', 'hour', 'quarter')),
  starts_at  timestamptz not null,
  currency   text not null,
  kind       text not null check (kind in ('earned', 'refunded', 'voided', 'adjusted', 'paid', 'returned')),
  amount     numeric not null,
  count      bigint not null,
  primary key (account_id, program_id, span, starts_at, currency, kind)
) with (fillfactor = 80);

-- What happened since they were last added up. Append-only: nobody who writes commissions waits for somebody else.
create table commission_series_notes (
  account_id uuid not null,
  program_id bigint,
  starts_at  timestamptz not null, -- of a quarter hour
  currency   text not null,
  kind       text not null,
  amount     numeric not null,
  count      bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index commission_series_notes_account on commission_series_notes (account_id);

with happened as (
  select account_id, program_id, currency, occurred_at as at,
         case type when 'adjustment' then 'adjusted' else 'earned' end as kind, original_amount as amount, 1 as count
  from commissions where type <> 'clawback' and returns_payout_id is null
  union all
  select account_id, program_id, currency, voided_at, 'voided', original_amount - refunded_amount, 1
  from commissions
  where voided_at is not null and type <> 'clawback' and returns_payout_id is null
    and original_amount <> refunded_amount
  union all
  select c.account_id, c.program_id, c.currency, r.occurred_at, 'refunded', i.amount, 1
  from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
  join commissions c on c.account_id = i.account_id and c.id = i.commission_id
  where r.status <> 'reversed' and i.amount > 0
  union all
  select t.account_id, null, t.currency, p.paid_at, 'paid', t.amount - t.carried_amount, t.commission_count
  from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id where t.is_paid
  union all
  select account_id, null, currency, returned_at, 'returned', amount, 1 from payout_returns
  union all
  select account_id, null, currency, undone_at, 'returned', -amount, -1 from payout_returns where undone_at is not null)
insert into commission_series
select account_id, scope, span, date_bin(length, at, timestamptz '2001-01-01 00:00:00Z'), currency, kind, sum(amount),
       sum(count)
from happened
cross join lateral (select 0 as scope union all select program_id where program_id is not null) scopes
cross join (values ('day', interval '1 day'), ('hour', '1 hour'), ('quarter', '15 minutes')) spans (span, length)
group by 1, 2, 3, 4, 5, 6;
