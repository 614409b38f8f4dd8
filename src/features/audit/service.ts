import type { Tx } from '../../db/connect.ts';
import type { Principal } from '../../http/route.ts';
import { insertEntry } from './store.ts';

/** What was done: the name of the operation, and the id of what it was done to. */
export interface Action {
  readonly action: string;
  readonly target: string | null;
  readonly requestId: string;
}

/** Writes into the audit log, in the transaction of the change. */
export function note(tx: Tx, { account, kind, id, user }: Principal, action: Action): Promise<void> {
  return insertEntry(tx, { account, actorKind: kind, actorId: id, user, ...action });
}
