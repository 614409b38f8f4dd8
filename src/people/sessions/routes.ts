import { noContent, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { session } from './record.ts';
import { endSession } from './service.ts';
import { listSessions, sessionList } from './store.ts';

export const list = readRoute({
  operation: 'listSessions',
  path: '/v2/sessions',
  access: 'full',
  summary: 'List the sessions of users who are signed in',
  description: 'Sessions end 7 days after they were last used, and 30 days after they began.',
  list: sessionList,
  returns: { 200: listOf(session) },
  handle: async ({ db, account, list }) => page(await listSessions(db, account, list)),
});

export const end = writeRoute({
  operation: 'endSession',
  method: 'DELETE',
  path: '/v2/sessions/{session_id}',
  access: 'full',
  summary: 'End a session',
  description: 'It ends at once, on every server process.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await endSession(tx, account, params.session_id);
    return noContent();
  },
});
