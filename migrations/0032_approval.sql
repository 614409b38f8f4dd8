-- Whether a second person must approve a payout before it is paid.
alter table accounts add column approval text not null default 'none' check (approval in ('none', 'second_person'));

-- The last decision about a payout. It holds for one revision: any change of the payout leaves it behind.
alter table payouts
  add column created_by_user  uuid,        -- the person behind created_by; null = a program that nobody is known of
  add column decision         text check (decision in ('approved', 'rejected')),
  add column decided_revision int,
  add column decided_by       uuid,        -- of users
  add column decided_at       timestamptz(3),
  add column decision_note    text,
  add check ((decision is null) = (decided_revision is null) and (decision is null) = (decided_by is null)
    and (decision is null) = (decided_at is null) and (decision is not null or decision_note is null));
update payouts p set created_by_user = u.id from users u
  where p.status = 'unpaid' and u.account_id = p.account_id and public_id('usr', u.id) = p.created_by;
