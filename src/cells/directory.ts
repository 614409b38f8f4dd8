import sql from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../db/database.ts';
import { sealingKey } from '../db/secret-key.ts';
import { type AccountId, nil } from '../kernel/ids.ts';
import { sealPrefix, type Vault } from '../kernel/vault.ts';

/*
 * The directory of cells, in cell 0: which there are, and which accounts each holds. Requests do not read it: their credential
 * names the cell.
 */

/** The channel of cell 0 on which changes of the directory are announced. */
export const CHANNEL = 'payhook_cells';

/** Notifies the processes of an installation that its directory changed. */
export async function announceDirectory(db: Reader): Promise<void> {
  await rows(db, sql`select pg_notify(${CHANNEL}, '')`);
}

/** Where the PostgreSQL of a cell is. */
export interface CellUrls {
  /** With the password; null = the database of cell 0, or it cannot be decrypted. */
  readonly url: string | null;
  /** PostgreSQL itself, if `url` is that of a pooler; null = it is not, or it cannot be decrypted. */
  readonly listenUrl: string | null;
}

/** A cell that was added. */
export interface DirectoryCell extends CellUrls {
  readonly number: number;
  /** Why the URLs cannot be decrypted; null = they can. */
  readonly urlProblem: string | null;
  readonly schema: string | null;
  readonly state: 'open' | 'draining' | 'closed';
}

const sealedIn = (number: number, column: 'url' | 'listen_url') => ({
  account: nil<'acc'>(),
  place: `cells ${number} ${column}`,
});

/** Whether a database has a directory. */
export async function hasDirectory(db: Reader): Promise<boolean> {
  return (await maybeRow(db, sql`select where to_regclass('cells') is not null`)) !== null;
}

/** All cells but 0, removed ones too, by number. */
export async function readDirectory(db: Reader, vault: Vault): Promise<DirectoryCell[]> {
  const found = await rows<SealedUrls & Pick<DirectoryCell, 'schema' | 'state'>>(
    db,
    sql`select number, url, listen_url, schema, state from cells order by number`,
  );
  return found.map(({ number, schema, state, ...sealed }) => ({
    ...{ number, schema, state },
    ...openedUrls(vault, { number, ...sealed }),
  }));
}

interface SealedUrls {
  readonly number: number;
  readonly url: Buffer | null;
  readonly listen_url: Buffer | null;
}

function openedUrls(vault: Vault, sealed: SealedUrls): CellUrls & Pick<DirectoryCell, 'urlProblem'> {
  try {
    return { ...openUrls(vault, sealed), urlProblem: null };
  } catch (error) {
    return { url: null, listenUrl: null, urlProblem: (error as Error).message };
  }
}

function openUrls(vault: Vault, { number, url, listen_url }: SealedUrls): CellUrls {
  return {
    url: url && vault.open(url, sealedIn(number, 'url')),
    listenUrl: listen_url && vault.open(listen_url, sealedIn(number, 'listen_url')),
  };
}

function sealUrls(vault: Vault, number: number, { url, listenUrl }: CellUrls, fingerprint: string) {
  return {
    url: url === null ? null : vault.seal(url, sealedIn(number, 'url'), fingerprint),
    listenUrl: listenUrl === null ? null : vault.seal(listenUrl, sealedIn(number, 'listen_url'), fingerprint),
  };
}

/** Enters a cell. */
export async function insertCell(
  tx: Tx,
  vault: Vault,
  { number, schema, ...urls }: CellUrls & Pick<DirectoryCell, 'number' | 'schema'>,
): Promise<void> {
  const { url, listenUrl } = sealUrls(vault, number, urls, await sealingKey(tx));
  await rows(
    tx,
    sql`insert into cells (number, url, listen_url, schema) values (${number}, ${url}, ${listenUrl}, ${schema})`,
  );
}

/** Locks the directory until the transaction ends; returns the next number. */
export async function lockDirectory(tx: Tx): Promise<number> {
  await rows(tx, sql`lock table cells in share row exclusive mode`);
  const { next } = await oneRow<{ next: number }>(
    tx,
    sql`select coalesce(max(number), 0) + 1 as next from cells`,
  );
  return next;
}

/** Changes the state of a cell. */
export async function setCellState(tx: Tx, number: number, state: DirectoryCell['state']): Promise<void> {
  await rows(tx, sql`update cells set state = ${state} where number = ${number}`);
}

const isStale = (fingerprint: string) => {
  const prefix = sealPrefix(fingerprint);
  return sql`(substring(url for ${prefix.length}::int) <> ${prefix}::bytea
    or substring(listen_url for ${prefix.length}::int) <> ${prefix}::bytea)`;
};

/** Whether a URL of any cell is sealed under another key than that with this fingerprint. */
export async function hasStaleUrls(db: Reader, fingerprint: string): Promise<boolean> {
  return (await maybeRow(db, sql`select from cells where ${isStale(fingerprint)} limit 1`)) !== null;
}

/** Seals the URLs of cells under the key with this fingerprint that are sealed under another. Throws SecretKeyError. */
export async function resealUrls(
  tx: Tx,
  { vault, fingerprint }: { readonly vault: Vault; readonly fingerprint: string },
): Promise<void> {
  const stale = await rows<SealedUrls>(
    tx,
    sql`select number, url, listen_url from cells where ${isStale(fingerprint)} for no key update`,
  );
  for (const sealed of stale) {
    await updateUrls(tx, sealed.number, sealUrls(vault, sealed.number, openUrls(vault, sealed), fingerprint));
  }
}

async function updateUrls(
  tx: Tx,
  number: number,
  { url, listenUrl }: ReturnType<typeof sealUrls>,
): Promise<void> {
  await rows(tx, sql`update cells set url = ${url}, listen_url = ${listenUrl} where number = ${number}`);
}

/** Changes where a cell is. */
export async function setCellUrls(tx: Tx, vault: Vault, number: number, urls: CellUrls): Promise<void> {
  await updateUrls(tx, number, sealUrls(vault, number, urls, await sealingKey(tx)));
}

/** The number of accounts that the directory places in each cell but 0. */
export async function placedAccounts(db: Reader): Promise<ReadonlyMap<number, number>> {
  const found = await rows<{ cell: number; accounts: number }>(
    db,
    sql`select cell, count(*)::int as accounts from account_cells group by cell`,
  );
  return new Map(found.map(({ cell, accounts }) => [cell, accounts]));
}

/** The cell of an account outside cell 0; null = it is in cell 0, or nowhere. */
export async function placeOf(db: Reader, account: AccountId): Promise<number | null> {
  const found = await maybeRow<{ cell: number }>(
    db,
    sql`select cell from account_cells where account_id = ${account}`,
  );
  return found?.cell ?? null;
}

/** The cells that the directory names for accounts outside cell 0. */
export async function readPlaces(db: Reader): Promise<ReadonlyMap<AccountId, number>> {
  const found = await rows<{ account_id: AccountId; cell: number }>(
    db,
    sql`select account_id, cell from account_cells`,
  );
  return new Map(found.map(({ account_id, cell }) => [account_id, cell]));
}

/** Notes in which cell an account is; false = the cell takes no new accounts. */
export async function placeAccount(tx: Tx, account: AccountId, cell: number): Promise<boolean> {
  const placed = await rows(
    tx,
    sql`insert into account_cells (account_id, cell)
        select ${account}, number from (select number from cells where number = ${cell} and state = 'open' for share) open
        returning 1`,
  );
  return placed.length === 1;
}

/** Forgets an account. */
export async function forgetAccount(tx: Tx, account: AccountId): Promise<void> {
  await rows(tx, sql`delete from account_cells where account_id = ${account}`);
}

/** Notes that e-mail addresses have a user in a cell, by their marks. */
export async function insertPeople(tx: Tx, cell: number, marks: readonly Buffer[]): Promise<void> {
  await rows(
    tx,
    sql`insert into person_cells (email_mark, cell) select mark, ${cell} from unnest(${marks}::bytea[]) mark
        on conflict do nothing`,
  );
}

/** The marks of the e-mail addresses that have a user in a cell. */
export async function readPeople(db: Reader, cell: number): Promise<Buffer[]> {
  const found = await rows<{ mark: Buffer }>(
    db,
    sql`select email_mark as mark from person_cells where cell = ${cell}`,
  );
  return found.map(({ mark }) => mark);
}

/** Forgets e-mail addresses of a cell. */
export async function forgetPeople(tx: Tx, cell: number, marks: readonly Buffer[]): Promise<void> {
  await rows(tx, sql`delete from person_cells where cell = ${cell} and email_mark = any(${marks}::bytea[])`);
}

/** The cells other than 0 where an e-mail address with one of these marks has a user. */
export async function cellsWith(db: Reader, marks: readonly Buffer[]): Promise<ReadonlySet<number>> {
  const found = await rows<{ cell: number }>(
    db,
    sql`select cell from person_cells where email_mark = any(${marks}::bytea[])`,
  );
  return new Set(found.map(({ cell }) => cell));
}
