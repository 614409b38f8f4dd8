import { randomUUID } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import { type AccountId, nil } from '../../kernel/ids.ts';
import { type SealedIn, SecretKeyError, sealPrefix, type Vault } from '../../kernel/vault.ts';

/*
 * Numbers of affiliates that are sealed under the secret key: bank accounts, tax ids. Each table has the columns
 * account_id, id, affiliate_id, number (sealed; null = lost) and number_mark, a keyed hash by which equal numbers of an
 * account are found.
 */

/** A table with sealed numbers. `Id` is the UUID of its rows. */
interface SealedTable<Id extends string> {
  readonly table: string;
  /** A column that belongs to what a number means: numbers are equal when it is equal too. */
  readonly beside: string;
  /** Where the number of a row is sealed. */
  placeOf(account: AccountId, id: Id): SealedIn;
  /** The context of marks, within an account. */
  markContext(account: AccountId): string;
  /** What of an affiliate cannot be opened, and what to do, for a message. */
  readonly unreadable: { readonly what: string; readonly remedy: string };
}

/** A row; numbers are moved in this order. */
export interface SealedPlace<Id> {
  readonly account: AccountId;
  readonly id: Id;
}

/** An affiliate whose number was lost with the key. */
export interface LostNumber {
  readonly account: AccountId;
  readonly affiliate: number;
}

interface SealedRow<Id> {
  readonly account_id: AccountId;
  readonly id: Id;
  readonly affiliate_id: bigint;
  readonly beside: string | null;
  readonly number: Buffer;
}

interface Resealed<Id> {
  readonly account_id: AccountId;
  readonly id: Id;
  /** Hexadecimal; null = given up. */
  readonly number: string | null;
  readonly mark: string | null;
}

/** The text that the mark of a number is made of. */
export const markedText = (beside: string | null, number: string): string => `${beside ?? ''} ${number}`;

/** The id of a row to be written, for what is sealed before: it is sealed for this row. */
export const newSealedId = <Id extends string>() => randomUUID() as Id;

/** Bytes as the text that PostgreSQL reads as a bytea. */
export const byteaText = (bytes: Buffer | null): string | null =>
  bytes === null ? null : `\\x${bytes.toString('hex')}`;

const lossOf = ({ account_id, affiliate_id }: SealedRow<unknown>): LostNumber => ({
  account: account_id,
  affiliate: Number(affiliate_id),
});

/** What can be done to all numbers of a table, when the secret key changes or is lost. */
export function sealedNumbers<Id extends string>(spec: SealedTable<Id>) {
  const { placeOf, markContext } = spec;
  const table = raw(spec.table);
  const columns = sql`account_id, id, affiliate_id, ${raw(spec.beside)} as beside, number`;
  const allSealed = sql`select ${columns} from ${table} where number is not null order by account_id, id`;

  const opens = (vault: Vault, { account_id, id, number }: SealedRow<Id>): boolean => {
    try {
      vault.open(number, placeOf(account_id, id));
      return true;
    } catch {
      return false;
    }
  };
  const opened = (vault: Vault, { account_id, id, affiliate_id, number }: SealedRow<Id>): string => {
    try {
      return vault.open(number, placeOf(account_id, id));
    } catch (error) {
      const { what, remedy } = spec.unreadable;
      throw new SecretKeyError(
        `${what} of affiliate ${affiliate_id} cannot be opened (${(error as Error).message}): ${remedy}, then run this again`,
      );
    }
  };
  const again = (vault: Vault, fingerprint: string, row: SealedRow<Id>, number: string): Resealed<Id> => {
    const { account_id, id, beside } = row;
    return {
      account_id,
      id,
      number: vault.seal(number, placeOf(account_id, id), fingerprint).toString('hex'),
      mark: vault.mark(markedText(beside, number), markContext(account_id), fingerprint).toString('hex'),
    };
  };

  return {
    /** Whether a number is sealed under another key. */
    async hasStale(db: Reader, fingerprint: string): Promise<boolean> {
      const found = await maybeRow(db, sql`select from ${table} where ${isStale(fingerprint)} limit 1`);
      return found !== null;
    },

    /**
     * Seals the next numbers after a cursor anew, at most `limit`, but none in a row that somebody else has. Returns the
     * new cursor, null when none was left, and how many. Throws SecretKeyError when one cannot be opened.
     */
    async reseal(
      tx: Tx,
      { vault, fingerprint, after, limit }: Resealing<Id>,
    ): Promise<{ last: SealedPlace<Id> | null; count: number }> {
      const found = await rows<SealedRow<Id>>(
        tx,
        sql`select ${columns} from ${table}
            where (account_id, id) > (${after?.account ?? nil()}, ${after?.id ?? nil()}) and ${isStale(fingerprint)}
            order by account_id, id limit ${limit} for no key update skip locked`,
      );
      await write(
        tx,
        table,
        found.map((row) => again(vault, fingerprint, row, opened(vault, row))),
      );
      const last = found.at(-1);
      return { last: last ? { account: last.account_id, id: last.id } : null, count: found.length };
    },

    /** Whose numbers this vault cannot open. */
    async findLost(db: Reader, vault: Vault): Promise<LostNumber[]> {
      const all = await rows<SealedRow<Id>>(db, allSealed);
      return all.filter((row) => !opens(vault, row)).map(lossOf);
    },

    /** Gives up the numbers that this vault cannot open, and seals the rest under the key. Returns the losses. */
    async giveUp(tx: Tx, vault: Vault, fingerprint: string): Promise<LostNumber[]> {
      const all = await rows<SealedRow<Id>>(tx, sql`${allSealed} for no key update`);
      const lost = all.filter((row) => !opens(vault, row));
      await write(
        tx,
        table,
        all.map((row) =>
          lost.includes(row)
            ? { account_id: row.account_id, id: row.id, number: null, mark: null }
            : again(vault, fingerprint, row, vault.open(row.number, placeOf(row.account_id, row.id))),
        ),
      );
      return lost.map(lossOf);
    },
  };
}

/** What a slice of numbers is sealed anew with, and where it begins. */
export interface Resealing<Id> {
  readonly vault: Vault;
  readonly fingerprint: string;
  readonly after?: SealedPlace<Id>;
  readonly limit: number;
}

function isStale(fingerprint: string): Sql {
  const prefix = sealPrefix(fingerprint);
  return sql`number is not null and substring(number for ${prefix.length}::int) <> ${prefix}::bytea`;
}

async function write(tx: Tx, table: Sql, changed: readonly Resealed<string>[]): Promise<void> {
  if (changed.length === 0) return;
  await rows(
    tx,
    sql`update ${table} d set number = decode(c.number, 'hex'), number_mark = decode(c.mark, 'hex')
        from json_to_recordset(${JSON.stringify(changed)}::json) as c (account_id uuid, id uuid, number text, mark text)
        where d.account_id = c.account_id and d.id = c.id`,
  );
}
