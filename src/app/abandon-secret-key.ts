import { readDirectory } from '../cells/directory.ts';
import type { Database } from '../db/database.ts';
import { lockStarts } from '../db/migrate.ts';
import { holdSealing, putInForce, readSecretKeyState } from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import { idOf } from '../kernel/ids.ts';
import { fingerprintOf, SecretKeyError, type Vault } from '../kernel/vault.ts';
import { bankAccounts } from '../money/destinations/sealed.ts';
import { invoiceTaxIds } from '../money/invoices/tax-ids.ts';
import { correctedAccounts } from '../money/ledger/corrections.ts';
import { dropOtherDigests } from '../money/ledger/file-digests.ts';
import type { LostNumber } from '../money/ledger/sealed-numbers.ts';
import { taxIds } from '../money/tax-profiles/sealed.ts';
import { noteCommand } from '../people/audit/service.ts';
import { findLosses, giveUp, type Loss } from '../webhooks/endpoints/sealed.ts';
import type { Platform } from './platform.ts';
import { refuseOthers, unusable } from './rotate-secret-key.ts';
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
  /** Cells whose URL is lost. */
  readonly lostCells: readonly number[];
}

/** What abandoning the lost key would cost. Throws SecretKeyError if no key is missing. */
export async function previewAbandoning(platform: Platform): Promise<Losses> {
  const { cells, lostCells } = await cellsToRepair(platform);
  const { vault } = platform;
  const found = await Promise.all(
    cells.map(async ({ reader }) => ({
      endpoints: await findLosses(reader, vault),
      destinations: [
        ...(await bankAccounts.findLost(reader, vault)),
        ...(await correctedAccounts.findLost(reader, vault)),
      ],
      taxIds: await taxIds.findLost(reader, vault),
      invoiceTaxIds: await invoiceTaxIds.findLost(reader, vault),
    })),
  );
  return { ...sumOf(found), lostCells };
}

/**
 * Abandons a lost secret key, in one transaction per cell: values that the available keys cannot open are regenerated or
 * dropped, and the rest is resealed under the newest available key, which becomes the key in force. A data folder without a
 * key gets a new one. Throws SecretKeyError if no key is missing, or while other processes run without the new key.
 */
export async function abandonSecretKey(platform: Platform): Promise<Abandonment> {
  const { config, vault } = platform;
  const { cells, lostCells } = await cellsToRepair(platform);
  const done: Abandonment[] = [];
  for (const cell of cells) done.push(await abandonIn(cell, config, vault));
  const fingerprint = done.at(-1)?.fingerprint ?? '';
  adoptNewFolderKey(config, fingerprint);
  return { fingerprint, losses: { ...sumOf(done.map(({ losses }) => losses)), lostCells } };
}

/**
 * The cells that the keys of this process do not open, cell 0 last, and the numbers of the cells whose URL is lost with the key.
 * Throws SecretKeyError if there are none, or another cell cannot be used.
 */
async function cellsToRepair({ config, cells, db: first, vault }: Platform) {
  const directory = await readDirectory(first.reader, vault);
  const isLost = (cell: number) => directory.some((row) => row.number === cell && row.urlProblem !== null);
  const found: Database[] = [];
  const lostCells: number[] = [];
  for (const { number, db, problem } of cells.list().toReversed()) {
    if (isLost(number)) lostCells.unshift(number);
    else if (db === null) throw unusable(number, problem);
    else if (refusalOfKeys(config, await readSecretKeyState(db.reader)) !== null) found.push(db);
  }
  if (found.length === 0) {
    throw new SecretKeyError(
      'the secret key is not lost: it matches this database; to change it, see payhook secret-key rotate',
    );
  }
  return { cells: found, lostCells };
}

const sumOf = (found: readonly Omit<Losses, 'lostCells'>[]) => ({
  endpoints: found.flatMap(({ endpoints }) => endpoints),
  destinations: found.flatMap(({ destinations }) => destinations),
  taxIds: found.flatMap((each) => each.taxIds),
  invoiceTaxIds: found.flatMap((each) => each.invoiceTaxIds),
});

function abandonIn(db: Database, config: Config, vault: Vault): Promise<Abandonment> {
  return db.transaction(async (tx) => {
    await lockStarts(tx);
    await holdSealing(tx);
    const [held] = heldKeys(config);
    await refuseOthers(tx, held === undefined ? '' : fingerprintOf(held), isInFolder(config));
    const fingerprint = fingerprintOf(held ?? makeFolderKey(config));
    const losses = {
      endpoints: await giveUp(tx, vault, fingerprint),
      destinations: [
        ...(await bankAccounts.giveUp(tx, vault, fingerprint)),
        ...(await correctedAccounts.giveUp(tx, vault, fingerprint)),
      ],
      taxIds: await taxIds.giveUp(tx, vault, fingerprint),
      invoiceTaxIds: await invoiceTaxIds.giveUp(tx, vault, fingerprint),
      lostCells: [],
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
}
