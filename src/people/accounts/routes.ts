import { ok, readRoute, writeRoute } from '../../contract/route.ts';
import { account, accountChange } from './record.ts';
import { accountFor, authorizeChange, changeAccount, getAccount } from './service.ts';

export const get = readRoute({
  operation: 'getAccount',
  path: '/v2/account',
  scope: 'account',
  needs: 'read',
  summary: 'Get the account and its settings',
  returns: { 200: account },
  handle: async ({ db, principal }) => ok(accountFor(principal, await getAccount(db, principal.account))),
});

export const change = writeRoute({
  operation: 'changeAccount',
  method: 'PATCH',
  path: '/v2/account',
  scope: 'account',
  needs: 'write',
  summary: 'Change settings of the account',
  description:
    'A new hold applies to new commissions only; minimums apply from the next payout on. A new time zone changes what ' +
    'days mean from now on, and changes no stored instant.',
  body: accountChange,
  returns: { 200: account },
  errors: ['owner_required'],
  handle: async ({ tx, account: id, principal, body }) => {
    await authorizeChange(tx, principal, body);
    return ok(accountFor(principal, await changeAccount(tx, id, body)));
  },
});
