-- Whom ACH payments in NACHA files are from. These are ids of the merchant that its bank prints on statements: not sealed.
alter table accounts add column originator jsonb;
