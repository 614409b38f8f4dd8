import { noContent, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { ownSession, session } from './record.ts';
import { endOtherSessions, endOwnSession, endSession, ownSessions } from './service.ts';
import { listSessions, ownSessionList, sessionList } from './store.ts';

export const list = readRoute({
  operation: 'listSessions',
  path: '/v2/sessions',
  needs: 'people',
  summary: 'List the sessions of users who are signed in',
  description: 'Sessions end 7 days after they were last used, and 30 days after they began.',
  list: sessionList,
  returns: { 200: listOf(session) },
  handle: async ({ db, account, list }) => page(await listSessions(db, account, list)),
});

export const end = writeRoute({
  operation: 'deleteSession',
  method: 'DELETE',
  path: '/v2/sessions/{session_id}',
  needs: 'people',
  summary: 'Delete a session',
  description: 'Signs the user out at once, on every server process.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await endSession(tx, account, params.session_id);
    return noContent();
  },
});

export const listOwn = readRoute({
  operation: 'listOwnSessions',
  path: '/v2/me/sessions',
  needs: 'self',
  summary: 'List your sessions',
  description:
    'The browsers in which the signed-in person is signed in, in all their accounts. Other people’s sessions are in `listSessions`.',
  list: ownSessionList,
  returns: { 200: listOf(ownSession) },
  handle: async ({ db, principal, list }) => page(await ownSessions(db, principal, list)),
});

export const endOwn = writeRoute({
  operation: 'deleteOwnSession',
  method: 'DELETE',
  path: '/v2/me/sessions/{session_id}',
  needs: 'self',
  summary: 'Delete one of your sessions',
  description:
    'That browser is signed out at its next request. It may be a session in another of your accounts.',
  returns: { 204: null },
  errors: ['resource_missing'],
  unaudited: true,
  handle: async ({ tx, principal, params, requestId }) => {
    await endOwnSession(tx, principal, params.session_id, requestId);
    return noContent();
  },
});

export const endOthers = writeRoute({
  operation: 'deleteOtherSessions',
  method: 'DELETE',
  path: '/v2/me/sessions',
  needs: 'self',
  summary: 'Delete your other sessions',
  description: 'Signs the person out of every session but the one of this request, in all their accounts.',
  returns: { 204: null },
  unaudited: true,
  handle: async ({ tx, principal, requestId }) => {
    await endOtherSessions(tx, principal, requestId);
    return noContent();
  },
});
