-- Who is e-mailed about an endpoint, once they have confirmed the address (docs/decisions/0140). A row of notices, as the alerts of people are.
-- Locks: ACCESS EXCLUSIVE on accounts, webhook_endpoints and notices, for a moment, all or none; SHARE on notices while its indexes are built.
-- Time: milliseconds: nothing is written, and notices are kept for a week.

-- Servers of the version before use these tables in other orders than this (0046).
do $$
declare
  usual text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', case when attempt < 200 then '200ms' else usual end, true);
      lock table accounts, webhook_endpoints, notices in access exclusive mode;
      perform set_config('lock_timeout', usual, true);
      return;
    exception when lock_not_available then
      perform pg_sleep(0.1);
    end;
  end loop;
end $$;

alter table accounts add column contact_notices jsonb; -- src/people/accounts/contact-notices.ts; null = none

-- The hash is of the token in the link that confirms the address, until it was used.
alter table webhook_endpoints
  add column contact_email text,
  add column contact_hash bytea,
  add column contact_expires_at timestamptz(3),
  add column contact_confirmed_at timestamptz(3);
create unique index webhook_endpoints_contact on webhook_endpoints (contact_hash) where contact_hash is not null;

-- The endpoint whose contact a notice is for; its kinds are in src/notices/contacts.ts.
alter table notices add column endpoint_id uuid;
alter table notices drop constraint notices_one_recipient;
alter table notices add constraint notices_one_recipient check (num_nonnulls(user_id, channel_id, affiliate_id, endpoint_id) = 1) not valid;
alter table notices add constraint notices_endpoint foreign key (account_id, endpoint_id) references webhook_endpoints on delete cascade;
create index notices_endpoint on notices (account_id, endpoint_id, id) where endpoint_id is not null;
create index notices_endpoints_open on notices (due_at) where endpoint_id is not null and sent_at is null and failed_at is null;
-- To count what an address was sent.
create index notices_confirmations on notices ((data ->> 'to'), id) where kind = 'contact_confirmation';
