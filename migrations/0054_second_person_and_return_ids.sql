-- Who caused each revision of a payout after the first (docs/decisions/0069). A revision without a row was raised by a server
-- of the version before: nobody is known who caused it.
create table payout_changes (
  account_id uuid not null,
  payout_id  uuid not null,
  revision   int not null check (revision > 1),
  change     text not null check (change in ('redirected', 'increased', 'reduced')),
  actor_kind text not null,
  actor_id   text not null,
  user_id    uuid,           -- the person behind the actor; null = a key or a command that belongs to nobody
  changed_at timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, payout_id, revision),
  foreign key (account_id, payout_id) references payouts on delete cascade
);

-- Who approved a revision of a payout. Some payouts need two of them.
create table payout_approvals (
  account_id  uuid not null,
  payout_id   uuid not null,
  revision    int not null,
  user_id     uuid not null,
  note        text,
  approved_at timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, payout_id, revision, user_id),
  foreign key (account_id, payout_id) references payouts on delete cascade,
  foreign key (account_id, user_id) references users (account_id, id)
);
insert into payout_approvals (account_id, payout_id, revision, user_id, note, approved_at)
  select p.account_id, p.id, p.decided_revision, p.decided_by, p.decision_note, p.decided_at
  from payouts p join users u on u.account_id = p.account_id and u.id = p.decided_by
  where p.decision = 'approved';

-- Who let whom in since a payout was created.
create index audit_log_access on audit_log (account_id, target)
  where action in ('createUser', 'raiseUserRole', 'resetUserPassword');

-- The caller's own id of a request that booked a return: sent again, it books nothing. One request may book several currencies.
alter table payout_returns add column external_id text collate "C";
create unique index payout_returns_external_id on payout_returns (account_id, external_id, currency)
  where external_id is not null;
