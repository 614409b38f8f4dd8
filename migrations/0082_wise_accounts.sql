-- Affiliates can be paid by Wise to an IBAN: a type of destination.
-- Locks: ACCESS EXCLUSIVE on affiliate_destinations, for a moment; the new rules are checked for new rows only, because they allow what
-- the old ones did.
-- Time: milliseconds.
alter table affiliate_destinations drop constraint affiliate_destinations_type_check;
alter table affiliate_destinations add constraint affiliate_destinations_type_check
  check (type in ('paypal', 'wise', 'wise_bank', 'sepa', 'ach', 'other')) not valid;
alter table affiliate_destinations drop constraint affiliate_destinations_check;
alter table affiliate_destinations add constraint affiliate_destinations_check
  check ((type in ('wise_bank', 'sepa', 'ach')) = (last_four is not null)) not valid;
alter table affiliate_destinations drop constraint affiliate_destinations_check1;
alter table affiliate_destinations add constraint affiliate_destinations_check1
  check ((type in ('wise_bank', 'sepa', 'ach')) = (holder_in_files is not null)) not valid;
alter table affiliate_destinations drop constraint affiliate_destinations_check2;
alter table affiliate_destinations add constraint affiliate_destinations_check2
  check ((type in ('wise_bank', 'sepa')) = (country is not null)) not valid;
