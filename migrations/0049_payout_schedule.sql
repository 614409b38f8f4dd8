-- The schedule that prepared a payout, which may have been deleted since. Of payouts before, the last run of each tells it.
alter table payouts add column schedule_id uuid;
update payouts p set schedule_id = s.id from payout_schedules s
where p.account_id = s.account_id and p.id = s.last_payout_id;
