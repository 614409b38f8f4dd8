import { Type } from 'typebox';
import { noContent, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { endSession } from './service.ts';
import { listSessions, sessionList } from './store.ts';

const session = strict(
  {
    id: Type.String({ examples: ['ses_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('session'),
    user_id: Type.String(),
    user_agent: nullable(Type.String({ description: 'what the browser called itself' })),
    address: nullable(Type.String({ description: 'where it was opened from' })),
    created_at: timestamp,
    last_seen_at: timestamp,
    expires_at: Type.String({ format: 'date-time', description: 'when it ends if it is not used before' }),
  },
  { title: 'Session' },
);

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
