-- What affiliates get by e-mail: that they were paid, that a payment came back. A row of notices, as the alerts of people are.
-- Locks: ACCESS EXCLUSIVE on accounts, affiliates and notices, for a moment each; SHARE on notices while its indexes are built.
-- Time: milliseconds: notices are kept for a week.
alter table accounts add column affiliate_notices jsonb; -- src/people/accounts/affiliate-notices.ts; null = none

alter table affiliates add column language text; -- of what is sent to the affiliate; null = that of the account
alter table affiliates add constraint affiliates_language check (language in ('en', 'de', 'fr', 'es')) not valid;
alter table affiliates add column is_notified boolean not null default true;

-- The affiliate that a notice is for; its kinds are in src/notices/affiliate-kinds.ts.
alter table notices add column affiliate_id bigint;
alter table notices alter column recipient drop not null;
alter table notices drop constraint notices_check;
alter table notices add constraint notices_one_recipient check (num_nonnulls(user_id, channel_id, affiliate_id) = 1) not valid;
alter table notices add constraint notices_affiliate foreign key (account_id, affiliate_id) references affiliates on delete cascade;
create index notices_affiliate on notices (account_id, affiliate_id, id) where affiliate_id is not null;
create index notices_affiliates_open on notices (due_at) where affiliate_id is not null and sent_at is null and failed_at is null;
