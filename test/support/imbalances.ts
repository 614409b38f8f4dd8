/** Queries for impossible states of stored money, found by plain counting. Each row says what is wrong and where. */
export const IMBALANCES = `
  with line as (
    select t.*, p.status
    from payout_line_totals t join payout_lines l using (account_id, payout_id, affiliate_id)
    join payouts p on p.account_id = t.account_id and p.id = t.payout_id),
  member as (
    select account_id, payout_id, affiliate_id, currency, sum(amount) as amount, count(*) as commission_count
    from commissions where payout_id is not null group by 1, 2, 3, 4),
  stored as (
    select p.id as payout_id, t ->> 'currency' as currency, (t ->> 'amount')::numeric as amount,
           (t ->> 'commission_count')::int8 as commission_count, (t ->> 'affiliate_count')::int8 as affiliate_count,
           (t ->> 'paid_amount')::numeric as paid_amount, (t ->> 'paid_count')::int8 as paid_count,
           (t ->> 'carried_amount')::numeric as carried_amount,
           (t ->> 'released_amount')::numeric as released_amount, (t ->> 'released_count')::int8 as released_count
    from payouts p, json_array_elements(p.totals) t),
  counted as (
    select payout_id, currency, sum(amount) as amount, sum(commission_count)::int8 as commission_count,
           count(*) as affiliate_count,
           coalesce(sum(amount - carried_amount) filter (where is_paid), 0) as paid_amount,
           sum(carried_amount) as carried_amount,
           coalesce(sum(commission_count) filter (where is_paid), 0)::int8 as paid_count,
           coalesce(sum(amount) filter (where not is_paid), 0) as released_amount,
           coalesce(sum(commission_count) filter (where not is_paid), 0)::int8 as released_count
    from line group by payout_id, currency),
  clawed as (
    select account_id, reverses_commission_id as id, sum(original_amount) as amount
    from commissions where reverses_commission_id is not null and voided_at is null group by 1, 2),
  mark as (
    select a.id as account_id, coalesce(m.available_at, id_time(a.id)) as at
    from accounts a left join affiliate_balance_marks m on m.account_id = a.id),
  refunded as (
    select i.account_id, i.commission_id as id, sum(i.amount) as amount
    from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
    where r.status <> 'reversed' group by 1, 2)
  select 'a line is not the sum of its commissions' as what, to_json(line)::text as detail
  from line left join member m using (account_id, payout_id, affiliate_id, currency)
  where is_paid is distinct from false
    and (m.amount is distinct from line.amount or m.commission_count is distinct from line.commission_count)
  union all
  select 'a released line still holds commissions', to_json(line)::text
  from line join member m using (account_id, payout_id, affiliate_id, currency) where is_paid = false
  union all
  select 'a commission is in a payout without a line', to_json(m)::text
  from member m left join line using (account_id, payout_id, affiliate_id, currency) where line.amount is null
  union all
  select 'a line owes nothing', to_json(line)::text from line where amount <= 0
  union all
  select 'a line has no totals', to_json(l)::text
  from payout_lines l where not exists (select from payout_line_totals t
    where (t.account_id, t.payout_id, t.affiliate_id) = (l.account_id, l.payout_id, l.affiliate_id))
  union all
  select 'a payout is empty', id::text
  from payouts p where not exists (select from payout_lines l where l.account_id = p.account_id and l.payout_id = p.id)
  union all
  select 'the totals of a payout are not the sums of its lines', concat(to_json(stored), to_json(counted))
  from stored full join counted using (payout_id, currency)
  where stored is distinct from null and counted is distinct from null
    and (stored.amount, stored.commission_count, stored.affiliate_count, stored.paid_amount, stored.paid_count,
         stored.carried_amount, stored.released_amount, stored.released_count)
     is distinct from (counted.amount, counted.commission_count, counted.affiliate_count, counted.paid_amount,
         counted.paid_count, counted.carried_amount, counted.released_amount, counted.released_count)
  union all
  select 'a payout does not count its lines', to_json(p)::text
  from payouts p
  where p.commission_count <> (select coalesce(sum(commission_count), 0) from line where line.payout_id = p.id)
     or p.affiliate_count <> (select count(*) from payout_lines l where l.account_id = p.account_id and l.payout_id = p.id)
  union all
  select 'paid, carried and released are not the whole', to_json(stored)::text
  from stored join payouts p on p.id = stored.payout_id
  where p.status = 'paid' and stored.amount <> stored.paid_amount + stored.carried_amount + stored.released_amount
  union all
  select 'the adjustment of a carried amount does not match it', to_json(line)::text
  from line left join commissions c on c.account_id = line.account_id and c.id = line.carried_commission_id
  where line.carried_amount <> coalesce(c.amount, 0)
     or c.id is not null and (c.voided_at is not null or (c.affiliate_id, c.currency, c.type, c.returns_payout_id)
          is distinct from (line.affiliate_id, line.currency, 'adjustment', line.payout_id))
  union all
  select 'the returned amount of a line is not the sum of its returns', to_json(line)::text
  from line left join (
    select account_id, payout_id, affiliate_id, currency, sum(amount) as amount, sum(tax_amount) as tax from payout_returns
    where undone_at is null group by 1, 2, 3, 4) r using (account_id, payout_id, affiliate_id, currency)
  where line.returned_amount <> coalesce(r.amount, 0) or line.returned_tax_amount <> coalesce(r.tax, 0)
  union all
  select 'the returns of a line exceed its payment', to_json(line)::text
  from line where returned_amount > case when is_paid then amount - carried_amount else 0 end
  union all
  select 'the adjustment of a return does not match it, or exists after its undo', to_json(r)::text
  from payout_returns r left join commissions c on c.account_id = r.account_id and c.id = r.commission_id
  where (c.amount, c.affiliate_id, c.currency, c.type, c.returns_payout_id, c.voided_at is not null)
     is distinct from (r.amount, r.affiliate_id, r.currency, 'adjustment', r.payout_id, r.undone_at is not null)
  union all
  select 'an adjustment for a payout belongs to no line of it', c.id::text
  from commissions c where returns_payout_id is not null
    and not exists (select from payout_returns r where r.account_id = c.account_id and r.commission_id = c.id)
    and not exists (select from line t where t.account_id = c.account_id and t.carried_commission_id = c.id)
  union all
  select 'a line is decided before its payout is paid, or not after', to_json(line)::text
  from line where (status = 'paid') <> (is_paid is not null)
  union all
  select 'a line of a paid payout is not frozen', to_json(l)::text
  from payout_lines l join payouts p on p.account_id = l.account_id and p.id = l.payout_id
  where (p.status = 'paid') <> (l.email is not null and l.is_ready_for_payout is not null)
  union all
  select 'the creation notes do not match the number of commissions', a.id::text
  from accounts a
  where (select coalesce(sum(count), 0) from commission_arrivals n where n.account_id = a.id)
     <> (select count(*) from commissions c where c.account_id = a.id)
  union all
  select 'a balance is not the sum of its commissions', to_json(b)::text
  from (
    select account_id, affiliate_id, currency, sum(unpaid) as unpaid, sum(pending) as pending, sum(paid) as paid,
           max(last_paid_at) as last_paid_at
    from (
      select account_id, affiliate_id, currency, unpaid, pending, paid, last_paid_at from affiliate_balances
      union all
      select n.account_id, affiliate_id, currency, case when n.available_at <= at then owed else 0 end,
             case when n.available_at <= at then 0 else owed end, paid, last_paid_at
      from affiliate_balance_notes n join mark on mark.account_id = n.account_id
      union all
      select c.account_id, affiliate_id, currency, case when c.available_at <= at then -amount else 0 end,
             case when c.available_at <= at then 0 else -amount end, 0, null
      from commissions c join mark on mark.account_id = c.account_id where payout_id is null and voided_at is null
      union all
      select account_id, affiliate_id, currency, 0, 0, -(amount - carried_amount - returned_amount), null
      from line where is_paid) part
    group by 1, 2, 3) b
  where (unpaid, pending, paid) <> (0, 0, 0) or last_paid_at is distinct from (
    -- the API accepts no paid_at before the creation: a test changed it
    select case when bool_and(p.paid_at >= id_time(p.id)) then max(p.paid_at) else b.last_paid_at end
    from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id
    where t.is_paid and (t.account_id, t.affiliate_id, t.currency) = (b.account_id, b.affiliate_id, b.currency))
  union all
  select 'the total owed is not the sum of balances', to_json(s)::text
  from (
    select account_id, currency, state, sum(unpaid) as unpaid, sum(pending) as pending, sum(count) as count,
           sum(unpaid_count) as unpaid_count, sum(pending_count) as pending_count
    from (
      select account_id, currency, state, unpaid, pending, count, unpaid_count, pending_count from affiliate_balance_sums
      union all
      select account_id, currency, state, -unpaid, -pending, -1, -(unpaid <> 0)::int, -(pending <> 0)::int
      from affiliate_balances where state is not null) part
    group by 1, 2, 3) s
  where (unpaid, pending, count, unpaid_count, pending_count) <> (0, 0, 0, 0, 0)
  union all
  select 'a balance with an owed amount is in no sum, or the reverse', to_json(b)::text
  from affiliate_balances b join affiliate_balance_marks m using (account_id)
  where m.minimum_payout is not null and (state is null) <> (unpaid = 0 and pending = 0)
  union all
  select 'an affiliate that earned in a program is not recorded there', to_json(e)::text
  from (select account_id, program_id, affiliate_id from commissions where program_id is not null
        except select * from program_affiliates
        except select account_id, program_id, affiliate_id from affiliate_balance_notes) e
  union all
  select 'two unpaid payouts', account_id::text
  from payouts where status = 'unpaid' group by account_id having count(*) > 1
  union all
  select 'the next payout number is taken', p.id::text
  from payouts p join payout_books b on b.account_id = p.account_id where p.number >= b.next_number
  union all
  select 'a group is both paid and left out', to_json(x)::text
  from payout_exclusions x join line using (account_id, payout_id, affiliate_id, currency)
  where x.reason in ('below_minimum', 'negative_balance', 'affiliate_inactive', 'not_ready')
  union all
  select 'clawbacks exceed the original', c.id::text
  from commissions c join clawed k on k.account_id = c.account_id and k.id = c.id
  where c.original_amount + k.amount < 0
  union all
  select 'a clawback of an unpaid commission', k.id::text
  from commissions k join commissions c on c.account_id = k.account_id and c.id = k.reverses_commission_id
  left join payouts p on p.account_id = c.account_id and p.id = c.payout_id
  where p.status is distinct from 'paid'
  union all
  select 'refunds exceed the original, or differ from the refunded amount', c.id::text
  from commissions c left join refunded r on r.account_id = c.account_id and r.id = c.id
  where c.refunded_amount <> coalesce(r.amount, 0)
     or c.refunded_amount > greatest(c.original_amount, 0)
  union all
  select 'an amount is not the rest of the original', c.id::text
  from commissions c left join clawed k on k.account_id = c.account_id and k.id = c.id
  where c.voided_at is null and c.amount <> c.original_amount - c.refunded_amount - coalesce(k.amount, 0)
  union all
  select 'a clawback of a reversed refund is owed, or one of a live refund is not', k.id::text
  from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
  join commissions k on k.account_id = i.account_id and k.id = i.clawback_id
  where (r.status = 'reversed') <> (k.voided_at is not null)
  union all
  select 'a clawback differs from its refund', k.id::text
  from refund_items i join commissions k on k.account_id = i.account_id and k.id = i.clawback_id
  where k.original_amount <> -i.amount or k.reverses_commission_id <> i.commission_id
  union all
  select 'the status of a refund is not that of its lines', r.id::text
  from refunds r
  where r.status <> 'reversed' and (r.status = 'waiting') <> exists (
    select from refund_lines l where l.account_id = r.account_id and l.refund_id = r.id and l.status <> 'applied')
  union all
  select 'a reversed refund still takes commissions', r.id::text
  from refunds r join refund_lines l on l.account_id = r.account_id and l.refund_id = r.id
  where r.status = 'reversed' and l.is_open
  union all
  select 'a refund was not applied to a commission of its order', concat(to_json(l), c.id)
  from refund_lines l join commissions c on c.account_id = l.account_id and c.order_id = l.order_id
  where l.is_open and c.type in ('sale', 'recurring', 'bonus') and c.voided_at is null
    and c.refunded_amount < c.original_amount
    and (l.product_id is null or l.product_id = c.product_id)
    and (l.order_line_id is null or l.order_line_id = c.order_line_id)
    and (l.commission_external_id is null or l.commission_external_id = c.external_id)
    and not exists (
      select from refund_items i
      where i.account_id = l.account_id and i.refund_id = l.refund_id and i.commission_id = c.id)
    -- an amount that an earlier refund took is owed again once that refund is reversed
    and not exists (
      select from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
      where i.account_id = c.account_id and i.commission_id = c.id and r.status = 'reversed')
  union all
  select 'the numbers of a series of invoices have a gap', to_json(s)::text
  from invoice_series s
  where s.last <> (select count(*) from invoices i where i.account_id = s.account_id and i.series = s.name)
     or s.last <> (select max(position) from invoices i where i.account_id = s.account_id and i.series = s.name)
  union all
  select 'the invoices of a line do not match its payments less returns', to_json(line)::text
  from line join (
    select account_id, payout_id, affiliate_id, currency,
           sum(case kind when 'invoice' then amount else -amount end) as amount,
           sum((document ->> 'net')::int8 + (document ->> 'tax')::int8 + (document ->> 'rounding')::int8 - amount) as apart
    from invoices group by 1, 2, 3, 4) i using (account_id, payout_id, affiliate_id, currency)
  where i.amount <> line.amount - line.carried_amount - line.returned_amount
      + greatest(line.tax_amount - line.carried_tax_amount - line.returned_tax_amount, 0) or i.apart <> 0
  union all
  select 'the invoices of a line do not have its tax on top', to_json(line)::text
  from line join (
    select account_id, payout_id, affiliate_id, currency,
           sum(case kind when 'invoice' then 1 else -1 end * (document ->> 'tax')::int8) as tax
    from invoices group by 1, 2, 3, 4) i using (account_id, payout_id, affiliate_id, currency)
  where not line.tax_terms ? 'withholding_rate' and i.tax <> line.tax_amount - line.carried_tax_amount - line.returned_tax_amount
  union all
  select 'a line is not taxed by its terms', to_json(line)::text
  from line where tax_amount <> round(amount * coalesce((tax_terms ->> 'rate')::numeric, 0) / 10000)
    - round(amount * coalesce((tax_terms ->> 'withholding_rate')::numeric, 0) / 10000)
  union all
  select 'what is withheld of a line is more than is left of it, or a returned part of it is more', to_json(line)::text
  from line where tax_amount < 0 and (carried_tax_amount not between tax_amount and 0
    or returned_tax_amount not between tax_amount - carried_tax_amount and 0
    or is_paid and amount - carried_amount = returned_amount and tax_amount - carried_tax_amount <> returned_tax_amount)
  union all
  select 'the sums of a payout with tax are not those of its lines', concat(public_id('po', p.id), ' ', t)
  from payouts p cross join json_array_elements(p.totals) t
  left join (
    select payout_id, currency, sum(amount + tax_amount) as amount, sum(greatest(tax_amount, 0)) as tax_amount,
           sum(greatest(-tax_amount, 0)) as withheld_amount,
           coalesce(sum(amount - carried_amount + tax_amount - carried_tax_amount) filter (where is_paid), 0) as paid_amount
    from line group by 1, 2 having bool_or(tax_terms is not null)) s
    on s.payout_id = p.id and s.currency = t ->> 'currency'
  where (s.amount, s.tax_amount, s.withheld_amount, s.paid_amount) is distinct from ((t #>> '{with_tax,amount}')::numeric,
    (t #>> '{with_tax,tax_amount}')::numeric, (t #>> '{with_tax,withheld_amount}')::numeric,
    (t #>> '{with_tax,paid_amount}')::numeric)
  union all
  select 'the credit notes of an invoice exceed it', to_json(i)::text
  from invoices i
  where i.kind = 'invoice' and i.amount < (
    select sum(c.amount) from invoices c where c.account_id = i.account_id and c.corrects_id = i.id)
  union all
  select 'a request with an Idempotency-Key left no response', key from idempotency_keys where status is null
`;

/** Changes without an event, or with two. Only for databases written through the API alone. */
export const MISSING_EVENTS = `
  with published as (
    select account_id, type, payload::json #>> '{data,id}' as id,
           coalesce((payload::json #>> '{data,created}')::int8, 1) as weight
    from events),
  payout as (
    select account_id, id, count(*) filter (where type = 'payout.created') as created,
           count(*) filter (where type = 'payout.paid') as paid, count(*) filter (where type = 'payout.deleted') as deleted
    from published where type like 'payout.%' group by 1, 2),
  stored as (select account_id, 'po_' || replace(id::text, '-', '') as id, status from payouts
    -- past payouts are history, without events
    where import_id is null)
  select 'the events of a payout do not match its status' as what, concat(to_json(stored), to_json(payout)) as detail
  from payout full join stored using (account_id, id)
  where (payout.created, payout.paid, payout.deleted) is distinct from case stored.status
    when 'unpaid' then (1::int8, 0::int8, 0::int8) when 'paid' then (1::int8, 1::int8, 0::int8)
    else (1::int8, 0::int8, 1::int8) end
  union all
  select 'commissions have no event, or two', to_json(c)::text
  from (select account_id,
          -- without commissions that tests book themselves (bookDebt)
          (select count(*) from commissions c where c.account_id = a.account_id and c.external_id not like 'debt-%') as stored,
          (select coalesce(sum(weight), 0) from published t where t.account_id = a.account_id and t.type in
            ('commission.created', 'commissions.imported', 'commission.clawed_back')) as published
        from payout_books a) c
  where stored <> published
  union all
  select 'affiliates have no event, or two', to_json(c)::text
  from (select account_id,
          (select count(*) from affiliates c where c.account_id = a.account_id) as stored,
          (select count(*) filter (where t.type = 'affiliate.created') - count(*) filter (where t.type = 'affiliate.deleted')
           from published t where t.account_id = a.account_id) as published
        from payout_books a) c
  where stored <> published
`;

/** Wrong history: notes and sums compared with the records. Not for tests that moved a time. */
export const WRONG_HISTORY = `
  with own as (
    select * from commissions
    where type <> 'clawback' and returns_payout_id is null
      -- without commissions of an undone import
      and (external_id like 'payhook:undone:%') is not true),
  happened as (
    select account_id, affiliate_id, program_id, currency, occurred_at as at,
           case type when 'adjustment' then 'adjusted' else 'earned' end as kind, original_amount as amount, 1 as count
    from own
    union all
    select account_id, affiliate_id, program_id, currency, voided_at, 'voided', original_amount - refunded_amount, 1
    from own where voided_at is not null and original_amount <> refunded_amount
    union all
    select c.account_id, c.affiliate_id, c.program_id, c.currency, r.occurred_at, 'refunded', i.amount, 1
    from refund_items i join refunds r on r.account_id = i.account_id and r.id = i.refund_id
    join commissions c on c.account_id = i.account_id and c.id = i.commission_id
    where r.status <> 'reversed' and i.amount > 0
    union all
    select t.account_id, t.affiliate_id, null, t.currency, p.paid_at, 'paid', t.amount - t.carried_amount, t.commission_count
    from payout_line_totals t join payouts p on p.account_id = t.account_id and p.id = t.payout_id where t.is_paid
    union all
    select account_id, affiliate_id, null, currency, returned_at, 'returned', amount, 1 from payout_returns
    union all
    select account_id, affiliate_id, null, currency, undone_at, 'returned', -amount, -1 from payout_returns where undone_at is not null),
  by_month as (
    select n.account_id, n.affiliate_id, n.currency, n.kind, m.month, n.amount
    from (
      select account_id, affiliate_id, currency, kind, at, amount from happened
      union all
      select account_id, affiliate_id, currency, kind, starts_at, -amount from affiliate_series_notes) n
    join accounts a on a.id = n.account_id
    cross join lateral (
      values ('-infinity'::date), (date_trunc('month', n.at at time zone a.time_zone)::date)) m (month)
    union all
    select s.account_id, s.affiliate_id, s.currency, k.kind, s.month, -k.amount
    from affiliate_series s
    cross join lateral (values ('earned', earned), ('refunded', refunded), ('voided', voided), ('adjusted', adjusted),
      ('paid', paid), ('returned', returned)) k (kind, amount)),
  part as (
    select account_id, program_id, at, currency, kind, amount, count from happened
    union all
    select account_id, program_id, starts_at, currency, kind, -amount, -count from affiliate_series_notes),
  summed as (
    select account_id, scope as program_id, span, date_bin(length, at, timestamptz '2001-01-01 00:00:00Z') as starts_at,
           currency, kind, amount, count
    from part
    cross join lateral (select 0 as scope union all select program_id where program_id is not null) scopes
    cross join (values ('day', interval '1 day'), ('hour', '1 hour'), ('quarter', '15 minutes')) spans (span, length)
    union all
    select account_id, program_id, span, starts_at, currency, kind, -amount, -count from commission_series)
  select 'the series do not match what happened' as what, to_json(s)::text as detail
  from (select account_id, program_id, span, starts_at, currency, kind, sum(amount) as amount, sum(count) as count
        from summed group by 1, 2, 3, 4, 5, 6) s
  where (amount, count) <> (0, 0)
  union all
  select 'the months of an affiliate do not match what happened', to_json(s)::text
  from (select account_id, affiliate_id, currency, kind, month, sum(amount) as amount from by_month
        where account_id not in (select account_id from affiliate_series_due) group by 1, 2, 3, 4, 5) s
  where amount <> 0
  union all
  select 'the months of a country do not match those of its affiliates', to_json(s)::text
  from (
    select account_id, month, country, currency, sum(earned) as earned, sum(refunded) as refunded, sum(voided) as voided,
           sum(adjusted) as adjusted, sum(paid) as paid, sum(returned) as returned
    from (
      select account_id, month, country, currency, earned, refunded, voided, adjusted, paid, returned
      from affiliate_series_countries
      union all
      select account_id, month, country, currency, -earned, -refunded, -voided, -adjusted, -paid, -returned
      from affiliate_series where month > '-infinity') part
    group by 1, 2, 3, 4) s
  where (earned, refunded, voided, adjusted, paid, returned) <> (0, 0, 0, 0, 0, 0)
  union all
  select 'the months of an affiliate are counted in another country', to_json(s)::text
  from affiliate_series s join affiliates a on a.account_id = s.account_id and a.id = s.affiliate_id
  where month > '-infinity' and s.country <> coalesce(a.country, '')
    and (s.account_id, s.affiliate_id) not in (select account_id, affiliate_id from affiliate_series_moves)
  union all
  select 'what a payout paid by each method does not match its lines', concat(id, method, currency)
  from (
    select p.account_id, p.id, m.method, m.currency, m.paid
    from payouts p cross join lateral json_to_recordset(p.paid_by_method) as m (method text, currency text, paid numeric)
    union all
    select t.account_id, t.payout_id, coalesce(d.type, l.payout_method, case when l.paypal_email is not null then 'paypal' end),
           t.currency, -(t.amount - t.carried_amount)
    from payout_line_totals t join payout_lines l using (account_id, payout_id, affiliate_id)
    join payouts p on p.account_id = t.account_id and p.id = t.payout_id and p.paid_by_method is not null
    left join affiliate_destinations d on d.account_id = t.account_id and d.id = t.destination_id
    where t.is_paid) line
  group by account_id, id, method, currency having sum(paid) <> 0
`;

/** Wrong counts of the log: sums, folded or not, compared with the rows. They must be right at any moment. */
export const MISCOUNTS = `
  select 'the counts of the log are wrong' as what, to_json(m)::text as detail
  from (
    select account_id, scope_id, span, starts_at, sum(total)::int as total, sum(delivered)::int as delivered,
           sum(failed)::int as failed, sum(cancelled)::int as cancelled
    from (
      select account_id, scope_id, span, starts_at, total, delivered, failed, cancelled from delivery_counts
      union all
      select account_id, scope_id, span, date_bin(length, minute, '2001-01-01Z'), total, delivered, failed, cancelled
      from (
        select account_id, endpoint_id, minute, total, delivered, failed, cancelled from delivery_count_deltas
        union all
        select account_id, endpoint_id, id_time(event_id), -1, -(status = 'delivered')::int, -(status = 'failed')::int,
               -(status = 'cancelled')::int
        from deliveries d
        where not exists (select from dropped_weeks w where id_time(d.event_id) >= w.starts_at
                          and id_time(d.event_id) < w.starts_at + interval '7 days')) row
      cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
      cross join (values ('week', interval '7 days'), ('hour', '1 hour'), ('minute', '1 minute')) part (span, length)
    ) part
    group by 1, 2, 3, 4) m
  where (total, delivered, failed, cancelled) <> (0, 0, 0, 0)
  union all
  select 'the counts of attempts are wrong', to_json(m)::text
  from (
    select account_id, scope_id, span, starts_at, log_week, code, sum(n)::int as n
    from (
      select account_id, scope_id, span, starts_at, log_week, code, n
      from attempt_counts cross join lateral unnest(codes, counts) each (code, n)
      union all
      select account_id, scope_id, span, date_bin(length, at, '2001-01-01Z'), date_bin('7 days', event_at, '2001-01-01Z'),
             code, n
      from (
        select account_id, endpoint_id, minute as event_at, attempted_minute as at, abs(code)::int2 as code,
               sign(code)::int as n
        from delivery_count_deltas cross join lateral unnest(attempt_codes) code
        union all
        select account_id, endpoint_id, id_time(event_id), started_at,
               attempt_code(duration_ms, coalesce(response_status, case when error_code is null then 200 end)), -1
        from attempts a
        where not exists (select from dropped_weeks w where id_time(a.event_id) >= w.starts_at
                          and id_time(a.event_id) < w.starts_at + interval '7 days')) row
      cross join lateral (values (endpoint_id), (account_id)) scope (scope_id)
      cross join (values ('hour', interval '1 hour'), ('minute', '1 minute')) part (span, length)
    ) part
    group by 1, 2, 3, 4, 5, 6) m
  where n <> 0
`;

/** Impossible states of deliveries when no worker runs. */
export const LOOSE_ENDS = `
  select 'a pending delivery is not in the queue' as what, to_json(d)::text as detail
  from deliveries d where status = 'pending' and not exists (
    select from queue q where q.account_id = d.account_id and q.endpoint_id = d.endpoint_id and q.event_id = d.event_id)
  union all
  select 'the queue has a delivery that is not in the log', to_json(q)::text
  from queue q where not exists (
    select from deliveries d where d.account_id = q.account_id and d.endpoint_id = q.endpoint_id and d.event_id = q.event_id)
  union all
  select 'a scheduled attempt of a delivery that is not pending', to_json(q)::text
  from queue q join deliveries d using (account_id, endpoint_id, event_id)
  where q.trigger = 'scheduled' and d.status <> 'pending'
  union all
  select 'a lease is left', to_json(q)::text from queue q
  -- a consumer may hold it
  where lease_token is not null and claim is null
  union all
  select 'waits for no earlier delivery', to_json(q)::text
  from queue q join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id and e.deleted_at is null
  where q.generation = 2147483647 and not exists (
    select from queue f where f.endpoint_id = q.endpoint_id and f.ordering_key = q.ordering_key
      and f.generation < q.generation and f.place < q.place)
  union all
  select 'its ordering key is not busy, or has no such position', to_json(q)::text
  from queue q join webhook_endpoints e on e.account_id = q.account_id and e.id = q.endpoint_id and e.deleted_at is null
  where q.ordering_key is not null and not exists (
    select from queue_keys k where k.endpoint_id = q.endpoint_id and k.ordering_key = q.ordering_key
      and k.last_place >= q.place)
  union all
  select 'a key is busy without a delivery', to_json(k)::text
  from queue_keys k join webhook_endpoints e on e.account_id = k.account_id and e.id = k.endpoint_id and e.deleted_at is null
  where not exists (
    select from queue q where q.endpoint_id = k.endpoint_id and q.ordering_key = k.ordering_key)
  union all
  select case when n <> attempt_count or last <> attempt_count then 'attempts are not numbered from 1 to their count'
              else 'delivered without a successful attempt, or the reverse' end, to_json(d)::text
  from (
    -- grouped before the join: a subquery for each of a million deliveries takes minutes
    select d.*, coalesce(a.n, 0) as n, coalesce(a.last, 0) as last, coalesce(a.has_succeeded, false) as has_succeeded
    from deliveries d left join (
      select account_id, endpoint_id, event_id, count(*) as n, max(number) as last, bool_or(error_code is null) as has_succeeded
      from attempts group by 1, 2, 3) a using (account_id, endpoint_id, event_id)) d
  where n <> attempt_count or last <> attempt_count or (status = 'delivered') <> has_succeeded
  union all
  select 'a delivery without its event', to_json(d)::text
  from deliveries d where not exists (select from events e where e.account_id = d.account_id and e.id = d.event_id)
  union all
  ${MISCOUNTS}
`;
