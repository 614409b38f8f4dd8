import { ok, readRoute, writeRoute } from '../../contract/route.ts';
import { alertChoice, alertSettings, alertTest, ofUser } from './record.ts';
import { getAlertSettings, setAlertSettings, testAlertSettings } from './service.ts';

export const get = readRoute({
  operation: 'getAlertSettings',
  path: '/v2/alerts',
  scope: 'account',
  needs: 'read',
  summary: 'Get the e-mail alerts of a user',
  description: 'Every kind of alert, and whether the user gets it by e-mail.',
  query: ofUser,
  returns: { 200: alertSettings },
  errors: ['resource_missing'],
  handle: async ({ db, principal, query }) =>
    ok(await getAlertSettings(db, { principal, userId: query.user_id })),
});

export const set = writeRoute({
  operation: 'setAlertSettings',
  method: 'PUT',
  path: '/v2/alerts',
  scope: 'account',
  needs: 'read',
  summary: 'Choose the e-mail alerts of a user',
  description:
    'Alerts within a minute are sent in one e-mail, and at most 6 e-mails in an hour; the next one has everything that ' +
    'came meanwhile.',
  query: ofUser,
  body: alertChoice,
  returns: { 200: alertSettings },
  errors: ['resource_missing'],
  handle: async ({ tx, principal, query, body }) =>
    ok(await setAlertSettings(tx, { principal, userId: query.user_id }, body)),
});

export const test = writeRoute({
  operation: 'testAlertSettings',
  method: 'POST',
  path: '/v2/alerts/test',
  scope: 'account',
  needs: 'read',
  summary: 'Send a test alert to a user',
  description:
    'It is sent to the e-mail address of the user within seconds; `getAlertSettings` shows the result.',
  query: ofUser,
  returns: { 200: alertTest },
  errors: ['resource_missing', 'email_not_sent'],
  handle: async ({ tx, principal, query }) =>
    ok(await testAlertSettings(tx, { principal, userId: query.user_id })),
});
