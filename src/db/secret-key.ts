import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Reader, rows, type Tx } from './database.ts';
import { readSetting, writeSetting } from './settings.ts';

/** What the database knows of the secret key, by fingerprints. */
export interface SecretKeyState {
  /** The key in force; null = the database was not set up yet. */
  readonly current: string | null;
  /** The key that a rotation leads to: under way, everything is sealed under it already. */
  readonly next: string | null;
  /** The key that was in force before. */
  readonly retired: string | null;
}

const CURRENT = 'secret_key_fingerprint';
const NEXT = 'secret_key_next_fingerprint';
const RETIRED = 'secret_key_retired_fingerprint';

export async function readSecretKeyState(db: Reader): Promise<SecretKeyState> {
  return oneRow<SecretKeyState>(
    db,
    sql`select (select value from server_settings where key = ${CURRENT}) as current,
               (select value from server_settings where key = ${NEXT}) as next,
               (select value from server_settings where key = ${RETIRED}) as retired`,
  );
}

/** Notes the first key of a database. */
export const noteFirstKey = (tx: Tx, fingerprint: string) => writeSetting(tx, CURRENT, fingerprint);

/**
 * The fingerprint of the key to seal under. It stays the one until the transaction ends: a rotation waits for who
 * asked before it began, so that it finds what they sealed.
 */
export async function sealingKey(tx: Tx): Promise<string> {
  await lockState(tx, sql`for share`);
  const { current, next } = await readSecretKeyState(tx);
  return next ?? current ?? '';
}

/** SQL: the fingerprint of the key to seal under at this moment. */
export const keyInForce = sql`(select coalesce(max(value) filter (where key = ${NEXT}), max(value)) from server_settings
  where key in (${CURRENT}, ${NEXT}))`;

/** From here on until the transaction ends nobody seals; returns the state. */
export async function holdSealing(tx: Tx): Promise<SecretKeyState> {
  await lockState(tx, sql`for update`);
  return readSecretKeyState(tx);
}

const lockState = (tx: Tx, how: Sql) =>
  rows(tx, sql`select from server_settings where key = ${CURRENT} ${how}`);

/** Everything is sealed under this key from now on. */
export const beginRotation = (tx: Tx, fingerprint: string) => writeSetting(tx, NEXT, fingerprint);

/** Puts a key in force; the rotation that was under way is over. */
export async function putInForce(tx: Tx, fingerprint: string): Promise<void> {
  const before = await readSetting(tx, CURRENT);
  if (before !== null && before !== fingerprint) await writeSetting(tx, RETIRED, before);
  await writeSetting(tx, CURRENT, fingerprint);
  await rows(tx, sql`delete from server_settings where key = ${NEXT}`);
}

const NAME = 'payhook keys';
const SHOWN = 8;
const FOLDER = 'folder';

/**
 * The application_name of a process's connections: it shows the others which keys it holds. Takes their fingerprints,
 * and whether it reads them from the data folder, again when one is missing.
 */
export function connectionName(fingerprints: readonly string[], fromFolder: boolean): string {
  const names = fingerprints.map((fingerprint) => fingerprint.slice(0, SHOWN));
  return [NAME, ...names, ...(fromFolder ? [FOLDER] : [])].join(' ');
}

/**
 * Where processes of Payhook are connected from that could not open what is sealed under a key: they do not hold it, and
 * will not find it in the data folder (`inFolder`) either.
 */
export async function placesWithout(
  tx: Tx,
  { fingerprint, inFolder }: { fingerprint: string; inFolder: boolean },
): Promise<string[]> {
  const found = await rows<{ place: string }>(
    tx,
    sql`select distinct coalesce(host(client_addr), 'this machine') as place from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()
          and (application_name = 'payhook' or application_name like ${`${NAME}%`})
          and not (${fingerprint.slice(0, SHOWN)} = any (string_to_array(application_name, ' ')))
          and not (${inFolder}::boolean and application_name like ${`% ${FOLDER}`})
        order by place`,
  );
  return found.map(({ place }) => place);
}
