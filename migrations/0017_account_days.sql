-- What nobody said an affiliate is. Until now it stood as a person, though no field asked for it.
alter table affiliates alter column legal_type drop not null, alter column legal_type drop default;
update affiliates set legal_type = null;
-- Lines that are paid keep what their files said; what is copied from now on may be unknown.
alter table payout_lines alter column legal_type drop not null, alter column legal_type drop default;
update payout_lines l set legal_type = null from payouts p
  where p.account_id = l.account_id and p.id = l.payout_id and p.status = 'unpaid';
