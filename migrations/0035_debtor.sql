-- The account that SEPA transfers are paid from. It is the merchant's own and printed on its invoices: it is not sealed.
alter table accounts add column debtor jsonb;
