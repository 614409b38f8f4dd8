import { Type } from 'typebox';
import { page, readRoute } from '../../contract/route.ts';
import { listOf, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { auditList, listEntries } from './store.ts';

const entry = strict(
  {
    id: Type.String({ examples: ['aud_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('audit_entry'),
    actor: strict({
      kind: Type.Enum(['key', 'user', 'application', 'operator'], { title: 'ActorKind' }),
      id: Type.String(),
    }),
    user_id: nullable(Type.String({ description: 'who signed in, or on whose grant the application acted' })),
    action: Type.String({
      description:
        'the operation, named as in this description; rotateSecretKey and abandonSecretKey are commands on the machine',
      examples: ['completePayout'],
    }),
    target: nullable(Type.String({ description: 'the id of the record it changed' })),
    request_id: Type.String({ description: 'identifies the request in the log of the server' }),
    created_at: timestamp,
  },
  { title: 'AuditEntry' },
);

export const list = readRoute({
  operation: 'listAuditLog',
  path: '/v2/audit-log',
  access: 'full',
  summary: 'List what was done, and by whom',
  description:
    'Every change by a person, a key or an application, written with the change; entries are never changed. ' +
    'Commissions and events that programs send in are not listed here: they have records of their own.',
  list: auditList,
  returns: { 200: listOf(entry) },
  handle: async ({ db, account, list }) => page(await listEntries(db, account, list)),
});
