-- Two more roles of users, finance and approver (src/contract/roles.ts). Servers of the version before treat them as members
-- in some operations, so give them to users once all servers are upgraded.
-- Locks: ACCESS EXCLUSIVE on users, which is small, for a moment.
-- Time: milliseconds; a second for a million users.

alter table users drop constraint users_role_check;
alter table users add constraint users_role_check
  check (role in ('owner', 'member', 'finance', 'approver', 'viewer'));
