import sql from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from '../../db/connect.ts';
import { type AccountId, type DestinationId, nil } from '../../kernel/ids.ts';
import { SecretKeyError, sealPrefix, type Vault } from '../../kernel/vault.ts';

/*
 * What is sealed under the secret key in affiliate_destinations: the numbers of bank accounts. With a number goes its
 * mark, a hash under the same key. This file opens them, and moves them to another key.
 */

/** The context under which the number of a destination (UUID) is sealed. */
export const placeOf = (destination: DestinationId): string => `affiliate destination ${destination}`;

/** The context of marks: equal numbers are found within an account, not across accounts. */
export const markContext = (account: AccountId): string => `bank account in ${account}`;

/** A destination; they are moved in this order. */
export interface DestinationPlace {
  readonly account: AccountId;
  readonly destination: DestinationId;
}

const FIRST: DestinationPlace = { account: nil(), destination: nil() };

interface SealedRow {
  account_id: AccountId;
  id: DestinationId;
  affiliate_id: bigint;
  routing_number: string | null;
  number: Buffer;
}

const columns = sql`account_id, id, affiliate_id, routing_number, number`;

const isStale = (fingerprint: string) => {
  const prefix = sealPrefix(fingerprint);
  return sql`number is not null and substring(number for ${prefix.length}::int) <> ${prefix}::bytea`;
};

/** Whether a number is sealed under another key. */
export async function hasStaleDestinations(db: Reader, fingerprint: string): Promise<boolean> {
  const found = await maybeRow(
    db,
    sql`select from affiliate_destinations where ${isStale(fingerprint)} limit 1`,
  );
  return found !== null;
}

/**
 * Seals the numbers of the next destinations after a cursor anew, at most `limit`. Returns the new cursor, null when none
 * was left, and their number. Throws SecretKeyError when one cannot be opened.
 */
export async function resealDestinations(
  tx: Tx,
  {
    vault,
    fingerprint,
    after = FIRST,
    limit,
  }: { vault: Vault; fingerprint: string; after?: DestinationPlace; limit: number },
): Promise<{ last: DestinationPlace | null; count: number }> {
  const found = await rows<SealedRow>(
    tx,
    sql`select ${columns} from affiliate_destinations
        where (account_id, id) > (${after.account}, ${after.destination}) and ${isStale(fingerprint)}
        order by account_id, id limit ${limit} for no key update`,
  );
  await write(
    tx,
    found.map((row) => again(vault, fingerprint, row, opened(vault, row))),
  );
  const last = found.at(-1);
  return { last: last ? { account: last.account_id, destination: last.id } : null, count: found.length };
}

function opened(vault: Vault, { id, affiliate_id, number }: SealedRow): string {
  try {
    return vault.open(number, placeOf(id));
  } catch (error) {
    throw new SecretKeyError(
      `a bank account of affiliate ${affiliate_id} cannot be opened (${(error as Error).message}): set its destination ` +
        'again or remove it, then run this again',
    );
  }
}

interface Resealed {
  readonly account_id: AccountId;
  readonly id: DestinationId;
  /** Hexadecimal; null = given up. */
  readonly number: string | null;
  readonly mark: string | null;
}

function again(vault: Vault, fingerprint: string, row: SealedRow, number: string): Resealed {
  const { account_id, id, routing_number } = row;
  return {
    account_id,
    id,
    number: vault.seal(number, placeOf(id), fingerprint).toString('hex'),
    mark: vault
      .mark(`${routing_number ?? ''} ${number}`, markContext(account_id), fingerprint)
      .toString('hex'),
  };
}

/** A destination whose number was lost with the key. */
export interface LostDestination {
  readonly account: AccountId;
  readonly affiliate: number;
}

const allSealed = sql`select ${columns} from affiliate_destinations where number is not null order by account_id, id`;

/** Whose numbers this vault cannot open. */
export async function findLostDestinations(db: Reader, vault: Vault): Promise<LostDestination[]> {
  const all = await rows<SealedRow>(db, allSealed);
  return all.filter((row) => !opens(vault, row)).map(lossOf);
}

/**
 * Gives up the numbers that this vault cannot open, and seals the rest under the key with this fingerprint. A payment
 * file refuses who lost one. Returns the losses.
 */
export async function giveUpDestinations(
  tx: Tx,
  vault: Vault,
  fingerprint: string,
): Promise<LostDestination[]> {
  const all = await rows<SealedRow>(tx, sql`${allSealed} for no key update`);
  const lost = all.filter((row) => !opens(vault, row));
  await write(
    tx,
    all.map((row) =>
      lost.includes(row)
        ? { account_id: row.account_id, id: row.id, number: null, mark: null }
        : again(vault, fingerprint, row, vault.open(row.number, placeOf(row.id))),
    ),
  );
  return lost.map(lossOf);
}

const lossOf = ({ account_id, affiliate_id }: SealedRow): LostDestination => ({
  account: account_id,
  affiliate: Number(affiliate_id),
});

function opens(vault: Vault, { id, number }: SealedRow): boolean {
  try {
    vault.open(number, placeOf(id));
    return true;
  } catch {
    return false;
  }
}

async function write(tx: Tx, changed: readonly Resealed[]): Promise<void> {
  if (changed.length === 0) return;
  await rows(
    tx,
    sql`update affiliate_destinations d set number = decode(c.number, 'hex'), number_mark = decode(c.mark, 'hex')
        from json_to_recordset(${JSON.stringify(changed)}::json) as c (account_id uuid, id uuid, number text, mark text)
        where d.account_id = c.account_id and d.id = c.id`,
  );
}
