-- What is searched or compared is composed (NFC), as it is stored from now on. An address that another affiliate of the
-- account has once both are composed stays as it is: which of the two is meant is for the merchant to say.
update affiliates set name_first = normalize(name_first), name_last = normalize(name_last), slug = normalize(slug),
    paypal_email = normalize(paypal_email)
  where not (coalesce(name_first, '') is nfc normalized and coalesce(name_last, '') is nfc normalized
    and coalesce(slug, '') is nfc normalized and coalesce(paypal_email, '') is nfc normalized);

with composed as (
  select account_id, id, email, lower(normalize(email)) as key,
         count(*) over (partition by account_id, lower(normalize(email))) as count
  from affiliates)
update affiliates a set email = normalize(a.email)
  from composed c
  where c.account_id = a.account_id and c.id = a.id and c.count = 1 and a.email is not nfc normalized;
