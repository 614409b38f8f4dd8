import type { FailingChore } from '../db/chores.ts';
import type { Database, Tx } from '../db/database.ts';
import { notify } from '../notices/notices.ts';
import { firstAccount } from '../people/accounts/service.ts';

/** Notifies the owners of the first account, which is in cell 0, that a chore keeps failing. */
export async function notifyOfFailingChore(
  first: Pick<Database, 'transaction'>,
  tx: Tx,
  { name, since, message }: FailingChore,
): Promise<void> {
  const write = async (at: Tx) => {
    const account = await firstAccount(at);
    const named = tx.cell === 0 ? name : `${name} (cell ${tx.cell})`;
    const data = { name: named, since, message };
    await notify(at, [{ account, kind: 'chore_failing', subject: null, data }]);
  };
  await (tx.cell === 0 ? write(tx) : first.transaction(write));
}
