import sql from 'sql-template-tag';
import {
  exactly,
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, UserId } from '../../kernel/ids.ts';
import { ACTORS, type AuditEntry, record } from './record.ts';

export const auditList: ListDefinition = {
  id: 'l.id',
  sort: { id: 'l.id', created_at: 'l.id' },
  filters: {
    actor_kind: oneOf(ACTORS, (kind) => sql`l.actor_kind = ${kind}`),
    actor_id: exactly('l.actor_id'),
    action: exactly('l.action'),
    target: exactly('l.target'),
    ...idInstants('created_at', 'l.id'),
  },
};

export function listEntries(db: Reader, account: AccountId, list: ListQuery): Promise<Page<AuditEntry>> {
  return listPage(db, {
    list,
    name: 'audit_log',
    table: 'audit_log',
    alias: 'l',
    where: sql`l.account_id = ${account}`,
    record,
  });
}

export interface Entry {
  readonly account: AccountId;
  readonly actorKind: string;
  readonly actorId: string;
  readonly user: UserId | undefined;
  readonly action: string;
  readonly target: string | null;
  readonly requestId: string;
}

export async function insertEntry(tx: Tx, entry: Entry): Promise<void> {
  await rows(
    tx,
    sql`insert into audit_log (account_id, actor_kind, actor_id, user_id, action, target, request_id)
        values (${entry.account}, ${entry.actorKind}, ${entry.actorId}, ${entry.user ?? null}, ${entry.action},
                ${entry.target}, ${entry.requestId})`,
    'audit',
  );
}
