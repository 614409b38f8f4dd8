-- Commissions of one order with the same line id are shares of one sale; others are sales of their own.
alter table commissions add column order_line_id text;
alter type commission_input add attribute order_line_id text;

-- A sale may be too small for a commission of one minor unit. The looser rule holds for every row there is.
alter table commissions drop constraint commissions_check;
alter table commissions add constraint commissions_original_amount
  check (type in ('adjustment', 'clawback') or original_amount >= 0) not valid;

-- What a refund took, a row for each commission; the refund itself is a row of its own now.
alter table refunds rename to refund_items;
alter index refunds_pkey rename to refund_items_pkey;
alter index refunds_commission rename to refund_items_commission;

-- A refund as it was told of: idempotent by its external_id.
create table refunds (
  account_id  uuid not null references accounts,
  id          uuid not null default new_id(),
  external_id text collate "C" not null,
  -- null: of one commission, by its id
  order_id    text,
  product_id  text,
  -- what was asked, to tell the same request from another one
  request     jsonb not null,
  status      text not null default 'applied' check (status in ('waiting', 'applied', 'reversed')),
  reason      text,
  occurred_at timestamptz(3) not null,
  reversed_at timestamptz(3),
  updated_at  timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, id),
  unique (account_id, external_id),
  check ((status = 'reversed') = (reversed_at is not null))
);
create index refunds_order on refunds (account_id, order_id) where order_id is not null;
create index refunds_waiting on refunds (account_id, id) where status = 'waiting';

insert into refunds (account_id, id, external_id, order_id, product_id, request, reason, occurred_at, updated_at)
select distinct on (account_id, external_id) account_id,
  -- an id carries the time of creation
  (substr(id_floor(created_at)::text, 1, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
  external_id, request ->> 'order_id', request ->> 'product_id', request, reason, occurred_at, created_at
from refund_items order by account_id, external_id, created_at;

alter table refund_items
  add column refund_id uuid,
  -- minor units of the sale that it stands for; null where the commission was taken by amount
  add column sale_amount bigint check (sale_amount >= 0);
update refund_items i set refund_id = r.id, sale_amount = (i.request ->> 'sale_amount')::int8 from refunds r
where r.account_id = i.account_id and r.external_id = i.external_id;
alter table refund_items
  -- it asked for more than was left
  add column capped boolean not null default false,
  -- the commission was held for review when it voided it
  add column was_held boolean not null default false,
  drop constraint refund_items_pkey,
  drop column external_id,
  drop column request,
  drop column reason,
  drop column occurred_at,
  alter column refund_id set not null,
  add primary key (account_id, refund_id, commission_id),
  add foreign key (account_id, refund_id) references refunds;

-- What a refund by order is of: the order or a product in it, a line of it, or one commission. While it is open it
-- takes commissions that come in later too.
create table refund_lines (
  account_id             uuid not null,
  refund_id              uuid not null,
  position               int not null,
  order_id               text not null,
  product_id             text,
  order_line_id          text,
  commission_external_id text collate "C",
  amount                 bigint,
  sale_amount            bigint,
  currency               text,
  status                 text not null check (status in ('waiting', 'in_doubt', 'applied')),
  is_open                boolean not null,
  primary key (account_id, refund_id, position),
  foreign key (account_id, refund_id) references refunds
);
create index refund_lines_open on refund_lines (account_id, order_id) where is_open;

insert into refund_lines (account_id, refund_id, position, order_id, product_id, amount, sale_amount, status, is_open)
select account_id, id, 0, order_id, product_id, (request ->> 'amount')::int8, (request ->> 'sale_amount')::int8,
  'applied', false
from refunds where order_id is not null;
