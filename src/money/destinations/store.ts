import sql, { join, raw } from 'sql-template-tag';
import { namesOf } from '../../contract/fields.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, DestinationId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { noteAffiliates } from '../ledger/owed.ts';
import { DESTINATION_FIELDS } from './fields.ts';
import { type Destination, type Destinations, record } from './record.ts';
import type { SealedDestination } from './sealed.ts';

/** Which destination of which affiliate; `currency` null = the one for all. */
export interface Which {
  readonly account: AccountId;
  readonly affiliate: number;
  readonly currency: string | null;
}

const inForce = ({ account, affiliate, currency }: Which) => sql`x.account_id = ${account}
  and x.affiliate_id = ${affiliate} and x.currency is not distinct from ${currency} and x.replaced_at is null`;

/** The destinations of an affiliate, or null when there is no such affiliate. */
export async function readDestinations(
  db: Reader,
  account: AccountId,
  affiliate: number,
): Promise<Json<Destinations> | null> {
  const row = await maybeRow<{ json: Json<Destinations> }>(
    db,
    sql`select json_build_object('object', 'affiliate_destinations', 'affiliate_id', a.id, 'destinations', (
                 select coalesce(json_agg(r), '[]') from (
                   select ${record} from affiliate_destinations x
                   where x.account_id = a.account_id and x.affiliate_id = a.id and x.replaced_at is null
                   order by x.currency nulls first) r))::text as json
        from affiliates a where a.account_id = ${account} and a.id = ${affiliate}`,
  );
  return row?.json ?? null;
}

/** The id of the next destination of an affiliate, or null when there is no such affiliate. */
export async function newDestinationId(
  tx: Tx,
  account: AccountId,
  affiliate: number,
): Promise<DestinationId | null> {
  const row = await maybeRow<{ id: DestinationId }>(
    tx,
    sql`select new_id() as id from affiliates where account_id = ${account} and id = ${affiliate} for key share`,
  );
  return row?.id ?? null;
}

const PLAIN = namesOf(DESTINATION_FIELDS, (field) => 'schema' in field).filter((name) => name !== 'currency');

/** The columns of a destination besides whose it is and its currency, with their types. */
export const STORED: Readonly<Record<string, 'text' | 'bytea'>> = {
  ...Object.fromEntries(PLAIN.map((name) => [name, 'text' as const])),
  holder_in_files: 'text',
  number: 'bytea',
  number_mark: 'bytea',
  last_four: 'text',
  country: 'text',
};
/** Two destinations are the same if these columns are equal. */
export const COMPARED = [...PLAIN, 'number_mark'];

const columnOf = (destination: SealedDestination, name: string) =>
  (destination as unknown as Readonly<Record<string, string | Buffer | null>>)[name];

/** The record of the destination in force if it is the same as this one, or null. */
export function readSame(tx: Tx, which: Which, d: SealedDestination): Promise<Json<Destination> | null> {
  const same = COMPARED.map(
    (name) => sql`x.${raw(name)} is not distinct from ${columnOf(d, name)}::${raw(STORED[name] ?? 'text')}`,
  );
  return maybeRecord(
    tx,
    record,
    sql`affiliate_destinations x where ${inForce(which)} and ${join(same, ' and ')}`,
  );
}

/** Ends the destination in force; whether there was one. */
export async function endDestination(tx: Tx, which: Which): Promise<boolean> {
  const { count } = await oneRow<{ count: bigint }>(
    tx,
    sql`with ended as (update affiliate_destinations x set replaced_at = clock_time() where ${inForce(which)}
                       returning account_id, affiliate_id as id),
        noted as (${noteAffiliates(sql`select account_id, id from ended`)})
        select count(*) as count from ended`,
  );
  return count > 0n;
}

/** Puts a destination in force, in the place of none. */
export async function insertDestination(
  tx: Tx,
  { account, affiliate, currency }: Which,
  id: DestinationId,
  d: SealedDestination,
): Promise<Json<Destination>> {
  const columns = Object.keys(STORED);
  await rows(
    tx,
    sql`with made as (
          insert into affiliate_destinations (account_id, id, affiliate_id, currency, created_at, ${raw(columns.join(', '))})
          values (${account}, ${id}, ${affiliate}, ${currency}, clock_time(),
            ${join(columns.map((name) => columnOf(d, name)))})
          returning account_id, affiliate_id as id)
        ${noteAffiliates(sql`select account_id, id from made`)}`,
  );
  return readDestination(tx, account, id);
}

/** The record of a destination. */
export function readDestination(
  db: Reader,
  account: AccountId,
  id: DestinationId,
): Promise<Json<Destination>> {
  return oneRecord(
    db,
    record,
    sql`affiliate_destinations x where x.account_id = ${account} and x.id = ${id}`,
  );
}

/** A destination in force with the name that its bank has; null = none. */
export function readVerified(
  db: Reader,
  which: Which,
): Promise<{
  readonly id: DestinationId;
  /** Sealed. */
  readonly number: Buffer | null;
  readonly bic: string | null;
  readonly account_holder: string | null;
  readonly bank_name: string | null;
} | null> {
  return maybeRow(
    db,
    sql`select x.id, x.number, x.bic, x.account_holder, v.bank_name from affiliate_destinations x
        left join payee_verifications v on v.account_id = x.account_id and v.destination_id = x.id
        where ${inForce(which)}`,
  );
}

/** Keeps the answer of a bank about a destination with the one that has the bank's name, too. */
export async function carryVerification(
  tx: Tx,
  account: AccountId,
  {
    from,
    to,
    replaced,
  }: { readonly from: DestinationId; readonly to: DestinationId; readonly replaced: string | null },
): Promise<void> {
  await rows(
    tx,
    sql`insert into payee_verifications (account_id, destination_id, affiliate_id, result, bank_name, replaced_name, reason,
          reason_code, payment_file, verified_at)
        select account_id, ${to}, affiliate_id, 'name_used', bank_name, ${replaced}, reason, reason_code, payment_file, verified_at
        from payee_verifications where account_id = ${account} and destination_id = ${from}`,
  );
}
