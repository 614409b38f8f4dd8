import { randomUUID } from 'node:crypto';
import sql, { raw, type Sql } from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { type AccountId, nil } from '../../kernel/ids.ts';
import { type SealedIn, SecretKeyError, sealPrefix, type Vault } from '../../kernel/vault.ts';

/*
 * Affiliates' numbers that are sealed under the secret key: bank accounts, tax ids. Each table has the columns
 * account_id, id, affiliate_id, number (sealed; null = lost) and number_mark, a keyed hash that finds equal numbers
 * within an account.
 */

/** A table with sealed numbers. `Id` is the UUID of its rows. */
interface SealedTable<Id extends string> {
  readonly table: string;
  /** The column that qualifies a number: numbers are equal only if it is equal too. */
  readonly qualifier: string;
  /** What a row's number is bound to when sealed. */
  placeOf(account: AccountId, id: Id): SealedIn;
  /** The context of marks, within an account. */
  markContext(account: AccountId): string;
  /** The unreadable number and the remedy, for a message. */
  readonly unreadable: { readonly what: string; readonly remedy: string };
}

/** A row's position. Numbers are resealed in this order. */
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
  readonly qualifier: string | null;
  readonly number: Buffer;
}

interface Resealed<Id> {
  readonly account_id: AccountId;
  readonly id: Id;
  /** Hexadecimal; null if abandoned. */
  readonly number: string | null;
  readonly mark: string | null;
}

/** The text whose keyed hash is the mark of a number. */
export const markedText = (qualifier: string | null, number: string): string =>
  `${qualifier ?? ''} ${number}`;

/** The id for a new row. Generated first, because the row's values are sealed for it. */
export const newSealedId = <Id extends string>() => randomUUID() as Id;

/** Bytes as bytea input text for PostgreSQL. */
export const byteaText = (bytes: Buffer | null): string | null =>
  bytes === null ? null : `\\x${bytes.toString('hex')}`;

const lossOf = ({ account_id, affiliate_id }: SealedRow<unknown>): LostNumber => ({
  account: account_id,
  affiliate: Number(affiliate_id),
});

/** Operations on all numbers of a table, for when the secret key changes or is lost. */
export function sealedNumbers<Id extends string>(spec: SealedTable<Id>) {
  const { placeOf, markContext } = spec;
  const table = raw(spec.table);
  const columns = sql`account_id, id, affiliate_id, ${raw(spec.qualifier)} as qualifier, number`;
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
    const { account_id, id, qualifier } = row;
    return {
      account_id,
      id,
      number: vault.seal(number, placeOf(account_id, id), fingerprint).toString('hex'),
      mark: vault.mark(markedText(qualifier, number), markContext(account_id), fingerprint).toString('hex'),
    };
  };

  return {
    /** Whether a number is sealed under another key. */
    async hasStale(db: Reader, fingerprint: string): Promise<boolean> {
      const found = await maybeRow(db, sql`select from ${table} where ${isStale(fingerprint)} limit 1`);
      return found !== null;
    },

    /**
     * Reseals up to `limit` numbers after a cursor under the current key, and skips rows locked by others. Returns the
     * new cursor (null at the end) and the number resealed. Throws SecretKeyError if one cannot be opened.
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

    /** The numbers that this vault cannot open. */
    async findLost(db: Reader, vault: Vault): Promise<LostNumber[]> {
      const all = await rows<SealedRow<Id>>(db, allSealed);
      return all.filter((row) => !opens(vault, row)).map(lossOf);
    },

    /**
     * Abandons the numbers that this vault cannot open, and reseals the rest under the current key. Returns the losses.
     */
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

/** The keys and the position of a slice of numbers to reseal. */
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
