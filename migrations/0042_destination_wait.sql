-- For how many hours whoever changed where they are paid is not paid.
alter table accounts
  add column destination_wait_hours int not null default 0 check (destination_wait_hours between 0 and 720);

-- When the address changed that PayPal or Wise pays to, or which of the two pays. Destinations tell it by their own times.
alter table affiliates add column paid_to_changed_at timestamptz(3);

create function note_paid_to_change() returns trigger language plpgsql as $$
begin
  if (old.paypal_email, old.payout_method) is distinct from (new.paypal_email, new.payout_method)
     or new.payout_method = 'wise'
     or exists (select from affiliate_destinations d where d.account_id = new.account_id and d.affiliate_id = new.id
                and d.type = 'wise' and d.replaced_at is null) then
    new.paid_to_changed_at := clock_timestamp();
  end if;
  return new;
end $$;
create trigger affiliates_note_paid_to_change before update of paypal_email, payout_method, email on affiliates
  for each row when ((old.paypal_email, old.payout_method, old.email)
    is distinct from (new.paypal_email, new.payout_method, new.email))
  execute function note_paid_to_change();
