import type { Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type ImportId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { sealPrefix } from '../../kernel/vault.ts';
import { publish } from '../../outbox/queue.ts';
import { type AffiliateInUse, findUsedAffiliates, takeBackAffiliates } from '../affiliates/undo.ts';
import {
  type CommissionInUse,
  findUsedCommissions,
  removeUndoneReturns,
  voidImported,
} from '../commissions/undo.ts';
import { takeBackDestinations } from '../destinations/import.ts';
import { lockBooks } from '../ledger/books.ts';
import { collectRedirected, notifyOfCollected } from '../ledger/destination-notices.ts';
import { deleteImportedPayouts } from '../payouts/imported-payouts.ts';
import { lockImportedProfiles, takeBackTaxProfiles } from '../tax-profiles/import.ts';
import type { ImportRecord } from './record.ts';
import { getImport } from './service.ts';
import { lockImport, markUndone } from './store.ts';

/**
 * Undoes a whole import: commissions are voided and their external_ids free again, past payouts and affiliates it
 * created are deleted, and affiliates it changed are restored, with their destinations and tax profiles. Throws
 * `resource_missing`, `import_is_undone`, `import_undo_ended`, and `import_is_used` naming what was paid here, refunded, returned, invoiced,
 * included in a payout or changed since.
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
  if (found.undo_ended_at !== null) {
    throw fail(
      'import_undo_ended',
      `the import can no longer be undone: what its affiliates were before it was deleted at ${found.undo_ended_at}. ` +
        'Change them with another import instead',
    );
  }
  const before = await getImport(tx, account, publicId);
  if (found.kind === 'commissions') await undoCommissions(tx, account, id);
  else await undoAffiliates(tx, account, id);
  await markUndone(tx, account, id, actor);
  const json = await getImport(tx, account, publicId);
  await publish(tx, { account, type: 'import.undone', data: json, before });
  return json;
}

function refuseUsed(parts: readonly string[], total: bigint, things: string): never {
  const rest = total - BigInt(parts.length);
  throw fail(
    'import_is_used',
    `the import cannot be undone, ${total} of its ${things} are in use: ${parts.join('; ')}` +
      `${rest > 0n ? `; and ${rest} more` : ''}`,
  );
}

const COMMISSION_REASONS: Readonly<Record<CommissionInUse['why'], (payout: string) => string>> = {
  paid: (payout) => `was paid in ${payout}`,
  in_payout: (payout) => `is in the unpaid ${payout}, which you may delete first`,
  refunded: () => 'was refunded',
  returned: (payout) => `was paid in ${payout}, and money of that came back`,
  invoiced: (payout) => `was paid in ${payout}, and there is an invoice for that`,
};

async function undoCommissions(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  const found = await findUsedCommissions(tx, account, id);
  const [first] = found;
  if (first) {
    const parts = found.map(
      ({ external_id, why, number }) =>
        `${quote(external_id ?? '')} ${COMMISSION_REASONS[why](`payout ${number}`)}`,
    );
    refuseUsed(parts, first.total, 'commissions');
  }
  await voidImported(tx, account, id);
  await removeUndoneReturns(tx, account, id);
  await deleteImportedPayouts(tx, account, id);
}

const AFFILIATE_REASONS: Readonly<Record<AffiliateInUse['why'], string>> = {
  changed: 'was changed since',
  destination: 'has had another destination set or removed since',
  tax_profile: 'has had their tax profile changed since',
  secret_key: 'had a tax id before that is sealed under a secret key no longer in force',
  commissions: 'has commissions by now, voided ones are kept too',
  payout: 'is in a payout',
};

async function undoAffiliates(tx: Tx, account: AccountId, id: ImportId): Promise<void> {
  await lockImportedProfiles(tx, account, id);
  const sealed = sealPrefix(await sealingKey(tx));
  const found = await findUsedAffiliates(tx, account, id, sealed);
  const [first] = found;
  if (first) {
    const parts = found.map((each) => `${each.id} (${each.email}) ${AFFILIATE_REASONS[each.why]}`);
    refuseUsed(parts, first.total, 'affiliates');
  }
  await collectRedirected(tx);
  await takeBackDestinations(tx, account, id);
  await takeBackTaxProfiles(tx, account, id);
  await takeBackAffiliates(tx, account, id);
  await notifyOfCollected(tx, account);
}
