-- A refund as the shop told of it: idempotent by its external_id, one row for each commission it concerned.
create table refunds (
  account_id    uuid not null,
  external_id   text collate "C" not null,
  commission_id uuid not null,
  -- what was asked, to tell the same request from another one
  request       jsonb not null,
  amount        bigint not null check (amount >= 0),
  reason        text,
  occurred_at   timestamptz(3) not null,
  clawback_id   uuid,
  created_at    timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, external_id, commission_id),
  foreign key (account_id, commission_id) references commissions,
  foreign key (account_id, clawback_id) references commissions
);
create index refunds_commission on refunds (account_id, commission_id);
