import { ok, readRoute } from '../../contract/route.ts';
import { me } from './record.ts';
import { describeCaller } from './service.ts';

export const get = readRoute({
  operation: 'getMe',
  path: '/v2/me',
  scope: 'any',
  needs: 'read',
  portal: 'own',
  summary: 'Get who asks',
  description:
    'The credential of the request: who it is, what it may do, and in which account. A page of this server that calls ' +
    'the API with the session of its user reads the CSRF token here; pages of other origins cannot read the answer.',
  returns: { 200: me },
  secret: true,
  handle: async ({ db, principal, env }) => ok(await describeCaller(db, principal, env.cells().length > 1)),
});
