import { setTimeout } from 'node:timers/promises';
import { hasStaleAlerts, resealAlerts } from '../alerts/sender/sealed.ts';
import { hasStaleUrls, lockDirectory, resealUrls } from '../cells/directory.ts';
import type { Database, Reader, Tx } from '../db/database.ts';
import { lockStarts } from '../db/migrate.ts';
import {
  beginRotation,
  holdSealing,
  placesWithout,
  putInForce,
  readSecretKeyState,
  type SecretKeyState,
} from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import { fingerprintOf, SecretKeyError, type Vault } from '../kernel/vault.ts';
import { bankAccounts } from '../money/destinations/sealed.ts';
import { invoiceTaxIds } from '../money/invoices/tax-ids.ts';
import { correctedAccounts } from '../money/ledger/corrections.ts';
import { dropOtherDigests } from '../money/ledger/file-digests.ts';
import { taxIds } from '../money/tax-profiles/sealed.ts';
import { listAccounts } from '../people/accounts/service.ts';
import { noteCommand } from '../people/audit/service.ts';
import { hasStale, resealSlice } from '../webhooks/endpoints/sealed.ts';
import type { Platform } from './platform.ts';
import { adoptNewFolderKey, isInFolder, makeNewFolderKey, newFolderKey, short } from './secret-keys.ts';

/*
 * Rotates the secret key while servers and workers run.
 * 1. The new key is announced in the database. From then on every process seals under it. This step waits for processes
 * that are sealing, and processes without the key cannot start. Both keys open.
 * 2. Values sealed under the old key are resealed, one slice per transaction. Rows locked by others are skipped and left
 * for the next round, so no order of locks can deadlock.
 * 3. When none is left, the digests of files under the old key are dropped, and the new key is in force. In a data folder
 * it replaces the old file. Digests of requests live for a day and stay.
 * Each step is done in every cell; in cell 0, which the first step begins with, the last step is the last of all. A finished cell
 * 0 means that every cell is.
 * If the command is killed, the next run continues where it stopped.
 */

const SLICE = 100;
/** The pause before skipped rows are tried again. */
const PAUSE_MS = 100;

export interface Rotation {
  /** The fingerprint of the key in force. */
  readonly fingerprint: string;
  /** Endpoints whose values this run resealed. */
  readonly endpoints: number;
  /** Affiliates' bank accounts that this run resealed. */
  readonly destinations: number;
  /** Affiliates' tax ids that this run resealed, including those on invoices. */
  readonly taxIds: number;
  /** False: the rotation was already complete, and this run only checked. */
  readonly changed: boolean;
}

type Counts = { -readonly [Kind in 'endpoints' | 'destinations' | 'taxIds']: Rotation[Kind] };

/**
 * Rotates the secret key of all cells. `progress` gets the number of endpoints, bank accounts and tax ids done. Throws
 * SecretKeyError with what to do.
 */
export async function rotateSecretKey(
  platform: Platform,
  progress: (done: number) => void,
): Promise<Rotation> {
  const { config, db } = platform;
  const done: Counts = { endpoints: 0, destinations: 0, taxIds: 0 };
  const before = await readSecretKeyState(db.reader);
  if (adoptNewFolderKey(config, before.current)) {
    return { fingerprint: before.current ?? '', ...done, changed: true };
  }
  const reached = requireCells(platform);
  if (await isDone(platform, before)) return { fingerprint: before.current ?? '', ...done, changed: false };
  const fingerprint = await begin(platform, reached);
  // a cell that was added meanwhile
  await platform.cells.refresh();
  const others = requireCells(platform);
  for (const cell of others) await beginIn(cell, config, fingerprint);
  const report = () => progress(done.endpoints + done.destinations + done.taxIds);
  for (const cell of [...others, db]) await rotateIn({ ...platform, db: cell }, fingerprint, done, report);
  adoptNewFolderKey(config, fingerprint);
  return { fingerprint, ...done, changed: true };
}

/** The cells other than 0. Throws SecretKeyError if one of them cannot be used. */
function requireCells({ cells }: Pick<Platform, 'cells'>): Database[] {
  return cells.list().flatMap(({ number, db, problem }) => {
    if (db === null) throw unusable(number, problem);
    return number === 0 ? [] : [db];
  });
}

/** The secret key cannot be changed because of a cell. */
export const unusable = (number: number, problem: string | null) =>
  new SecretKeyError(
    `cell ${number} ${problem ?? 'is not open'}: the secret key is changed in all cells, so repair that first, then run this again`,
  );

/** Reseals a cell and puts the key in force there. */
async function rotateIn(
  cell: Platform,
  fingerprint: string,
  done: Counts,
  report: () => void,
): Promise<void> {
  for (;;) {
    done.endpoints += await resealAll(cell, fingerprint, resealSlice, report);
    done.destinations += await resealAll(cell, fingerprint, bankAccounts.reseal, report);
    done.destinations += await resealAll(cell, fingerprint, correctedAccounts.reseal, report);
    done.taxIds += await resealAll(cell, fingerprint, taxIds.reseal, report);
    done.taxIds += await resealAll(cell, fingerprint, invoiceTaxIds.reseal, report);
    await resealAllAlerts(cell, fingerprint);
    await cell.db.transaction((tx) => resealUrls(tx, { vault: cell.vault, fingerprint }));
    if (await end(cell, fingerprint)) return;
    await setTimeout(PAUSE_MS);
  }
}

interface Slice<Cursor> {
  readonly vault: Vault;
  readonly fingerprint: string;
  readonly limit: number;
  readonly after?: Cursor;
}

/** Reseals all values of one kind, slice by slice. Returns their number. */
async function resealAll<Cursor>(
  { db, vault }: Platform,
  fingerprint: string,
  reseal: (tx: Tx, slice: Slice<Cursor>) => Promise<{ last: Cursor | null; count: number }>,
  report: () => void,
): Promise<number> {
  let all = 0;
  for (let after: Cursor | null | undefined; after !== null; ) {
    const slice: Slice<Cursor> = { vault, fingerprint, limit: SLICE, ...(after ? { after } : {}) };
    const { last, count } = await db.transaction((tx) => reseal(tx, slice));
    after = last;
    all += count;
    report();
  }
  return all;
}

/** Reseals the URLs of alert channels and the links of account messages. They are few. */
async function resealAllAlerts({ db, vault }: Platform, fingerprint: string): Promise<void> {
  let count: number;
  do count = await db.transaction((tx) => resealAlerts(tx, { vault, fingerprint, limit: SLICE }));
  while (count > 0);
}

const anyStale = async (db: Reader, fingerprint: string) =>
  (await hasStale(db, fingerprint)) ||
  (await bankAccounts.hasStale(db, fingerprint)) ||
  (await correctedAccounts.hasStale(db, fingerprint)) ||
  (await taxIds.hasStale(db, fingerprint)) ||
  (await invoiceTaxIds.hasStale(db, fingerprint)) ||
  (await hasStaleAlerts(db, fingerprint)) ||
  (await hasStaleUrls(db, fingerprint));

/** Whether the operator's keys show that the rotation was already done. */
async function isDone(
  { config, db }: Platform,
  { current, next, retired }: SecretKeyState,
): Promise<boolean> {
  const { secretKey, secretKeyPrevious } = config;
  if (secretKey === undefined || next !== null || fingerprintOf(secretKey) !== current) return false;
  if (secretKeyPrevious === undefined) {
    throw new SecretKeyError(
      'SECRET_KEY is the current key: to change it, set SECRET_KEY to the new key and SECRET_KEY_PREVIOUS to this one, ' +
        'on every server and worker first',
    );
  }
  if (fingerprintOf(secretKeyPrevious) !== retired) {
    throw new SecretKeyError(
      'SECRET_KEY is the current key, but SECRET_KEY_PREVIOUS must be: swap the two on every server and worker',
    );
  }
  return !(await anyStale(db.reader, current));
}

/** Makes every process seal under the new key in cell 0 from now on. Returns its fingerprint. */
function begin({ config, db }: Platform, others: readonly Database[]): Promise<string> {
  return db.transaction(async (tx) => {
    // a process that starts meanwhile sees the decision made here
    await lockStarts(tx);
    // nor does a cell come in that was set up with the old key
    await lockDirectory(tx);
    const fingerprint = fingerprintOf(newKey(config));
    // before anything is changed in any cell
    for (const cell of others) {
      await cell.transaction((there) => refuseOthers(there, fingerprint, isInFolder(config)));
    }
    await announce(tx, config, fingerprint);
    return fingerprint;
  });
}

/** The same in another cell, unless an interrupted run has finished there. */
function beginIn(db: Database, config: Config, fingerprint: string): Promise<void> {
  return db.transaction(async (tx) => {
    await lockStarts(tx);
    const { current, next } = await readSecretKeyState(tx);
    if (current !== fingerprint || next !== null) await announce(tx, config, fingerprint);
  });
}

async function announce(tx: Tx, config: Config, fingerprint: string): Promise<void> {
  const { next } = await holdSealing(tx);
  if (next !== null && next !== fingerprint) {
    throw new SecretKeyError(
      `a rotation to another key (fingerprint ${short(next)}) is in progress: finish it first`,
    );
  }
  await refuseOthers(tx, fingerprint, isInFolder(config));
  await beginRotation(tx, fingerprint);
}

const newKey = (config: Config) => config.secretKey ?? newFolderKey(config) ?? makeNewFolderKey(config);

/** Puts the key in force and records it in every account's audit log. Returns false if something is left to reseal. */
function end({ db }: Platform, fingerprint: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { current, next } = await holdSealing(tx);
    if (await anyStale(tx, fingerprint)) return false;

    // another run of the command has finished it
    if (next === null && current === fingerprint) return true;
    await dropOtherDigests(tx, fingerprint);
    await putInForce(tx, fingerprint);
    for (const { uuid } of await listAccounts(tx)) {
      await noteCommand(tx, uuid, { action: 'rotateSecretKey', target: short(fingerprint) });
    }
    return true;
  });
}

/** Throws SecretKeyError while another process is connected that could not open values sealed under the key. */
export async function refuseOthers(tx: Tx, fingerprint: string, inFolder: boolean): Promise<void> {
  const places = await placesWithout(tx, { fingerprint, inFolder });
  if (places.length === 0) return;
  throw new SecretKeyError(
    `other processes of Payhook on this database do not have the new key (fingerprint ${short(fingerprint)}); they run on ` +
      `${places.join(', ')}: give the new key and the old one to every server and worker as SECRET_KEY and ` +
      'SECRET_KEY_PREVIOUS, restart them, and run this again; nothing was changed',
  );
}
