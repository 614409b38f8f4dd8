import { setTimeout } from 'node:timers/promises';
import { hasStaleAlerts, resealAlerts } from '../alerts/sender/sealed.ts';
import type { Reader, Tx } from '../db/database.ts';
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

/**
 * Rotates the secret key. `progress` gets the number of endpoints, bank accounts and tax ids done. Throws SecretKeyError
 * with what to do.
 */
export async function rotateSecretKey(
  platform: Platform,
  progress: (done: number) => void,
): Promise<Rotation> {
  const { config, db } = platform;
  const before = await readSecretKeyState(db.reader);
  const none = { endpoints: 0, destinations: 0, taxIds: 0 };
  if (adoptNewFolderKey(config, before.current)) {
    return { fingerprint: before.current ?? '', ...none, changed: true };
  }
  if (await isDone(platform, before)) return { fingerprint: before.current ?? '', ...none, changed: false };
  const fingerprint = await begin(platform);
  const done = { ...none };
  const report = () => progress(done.endpoints + done.destinations + done.taxIds);
  for (;;) {
    done.endpoints += await resealAll(platform, fingerprint, resealSlice, report);
    done.destinations += await resealAll(platform, fingerprint, bankAccounts.reseal, report);
    done.taxIds += await resealAll(platform, fingerprint, taxIds.reseal, report);
    done.taxIds += await resealAll(platform, fingerprint, invoiceTaxIds.reseal, report);
    await resealAllAlerts(platform, fingerprint);
    if (await end(platform, fingerprint)) break;
    await setTimeout(PAUSE_MS);
  }
  adoptNewFolderKey(config, fingerprint);
  return { fingerprint, ...done, changed: true };
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
  (await taxIds.hasStale(db, fingerprint)) ||
  (await invoiceTaxIds.hasStale(db, fingerprint)) ||
  (await hasStaleAlerts(db, fingerprint));

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

/** Makes every process seal under the new key from now on. Returns its fingerprint. */
function begin({ config, db }: Platform): Promise<string> {
  return db.transaction(async (tx) => {
    // a process that starts meanwhile sees the decision made here
    await lockStarts(tx);
    const fingerprint = fingerprintOf(newKey(config));
    const { next } = await holdSealing(tx);
    if (next !== null && next !== fingerprint) {
      throw new SecretKeyError(
        `a rotation to another key (fingerprint ${short(next)}) is in progress: finish it first`,
      );
    }
    await refuseOthers(tx, fingerprint, isInFolder(config));
    await beginRotation(tx, fingerprint);
    return fingerprint;
  });
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
