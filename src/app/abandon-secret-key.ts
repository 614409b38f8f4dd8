import { lockStarts } from '../db/migrate.ts';
import { holdSealing, putInForce, readSecretKeyState, type SecretKeyState } from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import { idOf } from '../kernel/ids.ts';
import { fingerprintOf, SecretKeyError } from '../kernel/vault.ts';
import { bankAccounts } from '../money/destinations/sealed.ts';
import { invoiceTaxIds } from '../money/invoices/tax-ids.ts';
import { dropOtherDigests } from '../money/ledger/file-digests.ts';
import type { LostNumber } from '../money/ledger/sealed-numbers.ts';
import { taxIds } from '../money/tax-profiles/sealed.ts';
import { noteCommand } from '../people/audit/service.ts';
import { findLosses, giveUp, type Loss } from '../webhooks/endpoints/sealed.ts';
import type { Platform } from './platform.ts';
import { refuseOthers } from './rotate-secret-key.ts';
import { adoptNewFolderKey, heldKeys, isInFolder, makeFolderKey, refusalOfKeys } from './secret-keys.ts';

export interface Abandonment {
  /** The fingerprint of the key in force. */
  readonly fingerprint: string;
  readonly losses: Losses;
}

/** What is lost with a key: values of endpoints, affiliates' bank accounts and tax ids, and tax ids on their invoices. */
export interface Losses {
  readonly endpoints: readonly Loss[];
  readonly destinations: readonly LostNumber[];
  readonly taxIds: readonly LostNumber[];
  readonly invoiceTaxIds: readonly LostNumber[];
}

/** What abandoning the lost key would cost. Throws SecretKeyError if no key is missing. */
export async function previewAbandoning({ config, db, vault }: Platform): Promise<Losses> {
  refuseNeedless(config, await readSecretKeyState(db.reader));
  return {
    endpoints: await findLosses(db.reader, vault),
    destinations: await bankAccounts.findLost(db.reader, vault),
    taxIds: await taxIds.findLost(db.reader, vault),
    invoiceTaxIds: await invoiceTaxIds.findLost(db.reader, vault),
  };
}

/**
 * Abandons a lost secret key, in one transaction: values that the available keys cannot open are regenerated or dropped,
 * and the rest is resealed under the newest available key, which becomes the key in force. A data folder without a key
 * gets a new one. Throws SecretKeyError if no key is missing, or while other processes run without the new key.
 */
export async function abandonSecretKey({ config, db, vault }: Platform): Promise<Abandonment> {
  const done = await db.transaction(async (tx) => {
    await lockStarts(tx);
    refuseNeedless(config, await holdSealing(tx));
    const [held] = heldKeys(config);
    await refuseOthers(tx, held === undefined ? '' : fingerprintOf(held), isInFolder(config));
    const fingerprint = fingerprintOf(held ?? makeFolderKey(config));
    const losses = {
      endpoints: await giveUp(tx, vault, fingerprint),
      destinations: await bankAccounts.giveUp(tx, vault, fingerprint),
      taxIds: await taxIds.giveUp(tx, vault, fingerprint),
      invoiceTaxIds: await invoiceTaxIds.giveUp(tx, vault, fingerprint),
    };
    await dropOtherDigests(tx, fingerprint);
    await putInForce(tx, fingerprint);
    for (const { account, endpoint } of losses.endpoints) {
      await noteCommand(tx, account, { action: 'abandonSecretKey', target: idOf('we', endpoint) });
    }
    const numbers = [...losses.destinations, ...losses.taxIds, ...losses.invoiceTaxIds];
    for (const { account, affiliate } of numbers) {
      await noteCommand(tx, account, { action: 'abandonSecretKey', target: String(affiliate) });
    }
    return { fingerprint, losses };
  });
  adoptNewFolderKey(config, done.fingerprint);
  return done;
}

function refuseNeedless(config: Config, state: SecretKeyState): void {
  if (refusalOfKeys(config, state) !== null) return;
  throw new SecretKeyError(
    'the secret key is not lost: it matches this database; to change it, see payhook secret-key rotate',
  );
}
