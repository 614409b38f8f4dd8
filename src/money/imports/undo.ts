import type { Tx } from '../../db/connect.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type ImportId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import { findUsed, takeBackAffiliates } from '../affiliates/undo.ts';
import { countUsed, voidImported } from '../commissions/undo.ts';
import { lockBooks } from '../ledger/books.ts';
import type { ImportRecord } from './record.ts';
import { getImport } from './service.ts';
import { lockImport, markUndone } from './store.ts';

/**
 * Takes an import back, whole: commissions are voided and their external_ids free again, affiliates it
 * made are gone, affiliates it changed are as they were. Throws `resource_missing`, `import_is_undone`, and
 * `import_is_used` when something of it was paid, refunded, put into a payout or changed since.
 */
export async function undoImport(
  tx: Tx,
  account: AccountId,
  actor: string,
  publicId: string,
): Promise<Json<ImportRecord>> {
  await lockBooks(tx, account);
  const id = uuidOf('imp', publicId);
  const found = id === null ? null : await lockImport(tx, account, id);
  if (id === null || found === null) throw fail('resource_missing', 'no such import');
  if (found.status === 'undone') throw fail('import_is_undone', 'the import is undone already');
  if (found.kind === 'commissions') await undoCommissions(tx, account, id);
  else await undoAffiliates(tx, account, id);
  await markUndone(tx, account, id, actor);
  const json = await getImport(tx, account, publicId);
  await publish(tx, { account, type: 'import.undone', data: json });
  return json;
}

const used = (what: string) => fail('import_is_used', `the import cannot be undone: ${what}`);

async function undoCommissions(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const { paid, in_payout, refunded } = await countUsed(tx, account, id);
  if (paid > 0) throw used(`${paid} of its commissions are paid`);
  if (in_payout > 0) {
    throw used(
      `${in_payout} of its commissions are in the unpaid payout: delete that first, they are owed again then`,
    );
  }
  if (refunded > 0) throw used(`${refunded} of its commissions were refunded`);
  await voidImported(tx, account, id);
}

const REASONS = {
  changed: 'was changed since',
  commissions: 'has commissions by now',
  payout: 'is in a payout',
};

async function undoAffiliates(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const found = await findUsed(tx, account, id);
  if (found !== null) throw used(`affiliate ${found.id} ${REASONS[found.why]}`);
  await takeBackAffiliates(tx, account, id);
}
