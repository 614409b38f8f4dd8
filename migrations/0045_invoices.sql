-- Invoices that the merchant writes in the name of affiliates (self-billing), and credit notes for what came back.

-- The next number of each series. It is taken in the transaction that issues the document, so that a failed one leaves no gap.
create table invoice_series (
  account_id uuid not null references accounts on delete cascade,
  name       text not null,
  last       bigint not null default 0,
  primary key (account_id, name)
);

-- Tax ids that invoices name. They are copied from tax profiles, because an invoice stays when the profile changes or goes, and sealed
-- again whenever the secret key changes, which an invoice does not.
create table invoice_tax_ids (
  account_id   uuid not null,
  id           uuid not null default new_id(),
  affiliate_id bigint not null,
  tax_id_type  text not null check (tax_id_type in ('vat', 'other')),
  number       bytea,            -- sealed; null = lost with the secret key
  number_mark  bytea,            -- its keyed hash, by which the same one is found
  ending       text not null,    -- what is shown of it
  primary key (account_id, id),
  foreign key (account_id, affiliate_id) references affiliates
);
create index invoice_tax_ids_affiliate on invoice_tax_ids (account_id, affiliate_id);

create table invoices (
  account_id   uuid not null,
  id           uuid not null default new_id(),
  kind         text not null check (kind in ('invoice', 'credit_note')),
  series       text not null,
  position     bigint not null check (position > 0),
  payout_id    uuid not null,
  affiliate_id bigint not null,
  currency     text not null,
  amount       bigint not null check (amount > 0),  -- what was paid or came back, with the tax in it
  corrects_id  uuid,                                -- the invoice that a credit note is about
  document     jsonb not null,                      -- everything it says, but for the tax id of the affiliate
  tax_id       uuid,                                -- that one; null = it names none
  created_at   timestamptz(3) not null default now(),
  primary key (account_id, id),
  unique (account_id, series, position),
  foreign key (account_id, payout_id, affiliate_id, currency) references payout_line_totals,
  foreign key (account_id, corrects_id) references invoices,
  foreign key (account_id, tax_id) references invoice_tax_ids,
  check ((kind = 'credit_note') = (corrects_id is not null))
);
create unique index invoices_number on invoices (account_id, (document ->> 'number'));
create index invoices_line on invoices (account_id, payout_id, affiliate_id, currency);
create index invoices_affiliate on invoices (account_id, affiliate_id, id);

create function refuse_invoice_change() returns trigger language plpgsql as $$
begin
  raise exception 'an issued invoice never changes';
end $$;
create trigger invoices_never_change before update on invoices for each row execute function refuse_invoice_change();

-- By which rules supplies of affiliates are taxed, and how numbers begin.
alter table accounts add column invoicing jsonb;
