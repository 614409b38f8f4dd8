import type { FailingChore } from '../db/chores.ts';
import type { Tx } from '../db/database.ts';
import { notify } from '../notices/notices.ts';
import { firstAccount } from '../people/accounts/service.ts';

/** Notifies the first account that a chore keeps failing. */
export async function notifyOfFailingChore(tx: Tx, { name, since, message }: FailingChore): Promise<void> {
  const account = await firstAccount(tx);
  await notify(tx, [{ account, kind: 'chore_failing', subject: null, data: { name, since, message } }]);
}
