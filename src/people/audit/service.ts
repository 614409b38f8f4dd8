import { randomUUID } from 'node:crypto';
import type { Principal } from '../../contract/route.ts';
import type { Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { insertEntry } from './store.ts';

/** What was done: the name of the operation, and the id of the record it changed. */
export interface Action {
  readonly action: string;
  readonly target: string | null;
  readonly requestId: string;
}

/** Writes to the audit log, in the transaction of the change. */
export function note(tx: Tx, { account, kind, id, user }: Principal, action: Action): Promise<void> {
  return insertEntry(tx, { account, actorKind: kind, actorId: id, user, ...action });
}

/** The same for something the operator did to an account (UUID) with a command that is not a request. */
export function noteCommand(tx: Tx, account: AccountId, what: Omit<Action, 'requestId'>): Promise<void> {
  const requestId = `command-${randomUUID()}`;
  return insertEntry(tx, {
    account,
    actorKind: 'operator',
    actorId: 'operator',
    user: undefined,
    ...what,
    requestId,
  });
}
