-- A line is one affiliate and one currency of a payout (payout_line_totals): whether it was paid, how much of it, what came
-- back. payout_lines keeps what the lines of an affiliate have in common: whom the money goes to.
alter table payout_line_totals
  add column is_paid boolean,
  -- what a paid line did not pay: owed again by an adjustment of its own
  add column carried_amount bigint not null default 0,
  add column carried_commission_id uuid,
  -- what came back of it: the sum of its returns that were not undone
  add column returned_amount bigint not null default 0,
  add column payment_reference text;

-- Money that came back, in part or whole. The adjustment owes it again. Undone, it stays as what was said once: reports
-- of a time that is over do not change.
create table payout_returns (
  account_id    uuid not null,
  id            uuid not null default new_id(),
  payout_id     uuid not null,
  affiliate_id  bigint not null,
  currency      text not null,
  amount        bigint not null check (amount > 0),
  reason        text not null,
  reference     text,
  commission_id uuid not null,
  returned_at   timestamptz(3) not null,
  undone_at     timestamptz(3),
  primary key (account_id, id),
  unique (account_id, commission_id),
  foreign key (account_id, payout_id, affiliate_id, currency) references payout_line_totals,
  foreign key (account_id, commission_id) references commissions
);
create index payout_returns_line on payout_returns (account_id, payout_id, affiliate_id, currency);

-- Until now all lines of an affiliate were paid or not, and came back, together.
update payout_line_totals t set is_paid = l.is_paid, payment_reference = l.payment_reference
from payout_lines l
where l.account_id = t.account_id and l.payout_id = t.payout_id and l.affiliate_id = t.affiliate_id
  and l.is_paid is not null;

-- A return whose adjustment was voided by hand was taken back so: the balance says that since, now the line does too.
insert into payout_returns (account_id, payout_id, affiliate_id, currency, amount, reason, reference, commission_id,
  returned_at, undone_at)
select t.account_id, t.payout_id, t.affiliate_id, t.currency, t.amount, l.return_reason, l.return_reference, c.id,
  l.returned_at, c.voided_at
from payout_lines l
join payout_line_totals t on t.account_id = l.account_id and t.payout_id = l.payout_id and t.affiliate_id = l.affiliate_id
join commissions c on c.account_id = t.account_id and c.returns_payout_id = t.payout_id
  and c.affiliate_id = t.affiliate_id and c.currency = t.currency
where l.returned_at is not null;

update payout_line_totals t set returned_amount = r.amount from payout_returns r
where r.account_id = t.account_id and r.payout_id = t.payout_id and r.affiliate_id = t.affiliate_id
  and r.currency = t.currency and r.undone_at is null;

alter table payout_line_totals
  add foreign key (account_id, carried_commission_id) references commissions,
  add check (carried_amount >= 0 and (carried_amount > 0) = (carried_commission_id is not null)),
  add check (carried_amount = 0 or (is_paid is true and carried_amount < amount)),
  add check (returned_amount between 0 and case when is_paid then amount - carried_amount else 0 end);

alter table payout_lines
  drop column is_paid,
  drop column payment_reference,
  drop column returned_at,
  drop column return_reason,
  drop column return_reference;

-- amount = paid + carried + released, once completed
update payouts set totals = (
  select json_agg(json_build_object(
    'currency', t -> 'currency', 'amount', t -> 'amount', 'commission_count', t -> 'commission_count',
    'affiliate_count', t -> 'affiliate_count', 'paid_amount', t -> 'paid_amount', 'paid_count', t -> 'paid_count',
    'carried_amount', 0, 'released_amount', t -> 'released_amount', 'released_count', t -> 'released_count') order by place)
  from json_array_elements(totals) with ordinality e (t, place))
where json_array_length(totals) > 0;
