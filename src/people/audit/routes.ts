import { page, readRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { auditEntry } from './record.ts';
import { auditList, listEntries } from './store.ts';

export const list = readRoute({
  operation: 'listAuditLog',
  path: '/v2/audit-log',
  needs: 'own',
  summary: 'List what was done, and by whom',
  description:
    'Every change by a person, a key or an application, written with the change; entries are never changed. ' +
    'Commissions and events that programs send in are not listed here: they have records of their own.',
  list: auditList,
  returns: { 200: listOf(auditEntry) },
  handle: async ({ db, account, list }) => page(await listEntries(db, account, list)),
});
