import sql, { join, raw } from 'sql-template-tag';
import { namesOf } from '../../contract/fields.ts';
import {
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  opaqueId,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import type { Principal } from '../../contract/route.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, CorrectionId, DestinationId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { ACCOUNT_TYPES, DestinationType } from '../../terms/payments.ts';
import {
  CORRECTION_STATUSES,
  correctionColumns,
  correctionJoins,
  correctionStatus,
  type DestinationCorrection,
} from '../ledger/corrections.ts';
import { notifyOfDestinations } from '../ledger/destination-notices.ts';
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

/** Notifies the affiliate that the destination was replaced by the one with this id, or removed (null). The first one is no change. */
export async function notifyOfDestination(
  tx: Tx,
  { account, affiliate, currency }: Which,
  id: DestinationId | null,
): Promise<void> {
  await notifyOfDestinations(
    tx,
    account,
    sql`select a.id as affiliate_id, ${currency}::text as currency, array_remove(array[a.paypal_email], null) as former
        from affiliates a
        where a.account_id = ${account} and a.id = ${affiliate} and (
          coalesce(a.payout_method, a.paypal_email) is not null or exists (
            select from affiliate_destinations f
            where f.account_id = a.account_id and f.affiliate_id = a.id and f.id is distinct from ${id}::uuid))`,
  );
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

type AccountType = (typeof ACCOUNT_TYPES)[number];

/** A destination in force, which a bank may correct. */
export interface StoredDestination {
  readonly id: DestinationId;
  readonly affiliate_id: bigint;
  readonly type: DestinationType;
  readonly currency: string | null;
  readonly account_holder: string | null;
  readonly bic: string | null;
  readonly routing_number: string | null;
  readonly account_type: AccountType | null;
  /** Sealed. */
  readonly number: Buffer | null;
}

const stored = sql`x.id, x.affiliate_id, x.type, x.currency, x.account_holder, x.bic, x.routing_number, x.account_type, x.number`;

/** A destination in force with the name that its bank has; null = none. */
export function readVerified(
  db: Reader,
  which: Which,
): Promise<(StoredDestination & { readonly bank_name: string | null }) | null> {
  return maybeRow(
    db,
    sql`select ${stored}, v.bank_name from affiliate_destinations x
        left join payee_verifications v on v.account_id = x.account_id and v.destination_id = x.id
        where ${inForce(which)}`,
  );
}

/** What a correction changes: a field that is right is null. */
export interface StoredCorrection {
  readonly status: (typeof CORRECTION_STATUSES)[number];
  readonly account_holder: string | null;
  readonly routing_number: string | null;
  readonly account_type: AccountType | null;
  readonly last_four: string | null;
  /** Sealed; null = right, or lost with the secret key. */
  readonly number: Buffer | null;
  readonly destination_id: DestinationId;
}

/** Locks a correction; null = there is none. */
export function lockCorrection(
  tx: Tx,
  account: AccountId,
  id: CorrectionId,
): Promise<StoredCorrection | null> {
  return maybeRow(
    tx,
    sql`select ${raw(correctionStatus)} as status, w.account_holder, w.routing_number, w.account_type, w.last_four, w.number,
               w.destination_id
        from destination_corrections w where w.account_id = ${account} and w.id = ${id} for update`,
  );
}

/** The destination with this id. */
export function readStored(db: Reader, account: AccountId, id: DestinationId): Promise<StoredDestination> {
  return oneRow(
    db,
    sql`select ${stored} from affiliate_destinations x where x.account_id = ${account} and x.id = ${id}`,
  );
}

/** Records who decided about a correction. Returns its record. */
export async function decideCorrection(
  tx: Tx,
  { account, kind, id: actor }: Principal,
  id: CorrectionId,
  decision: 'accepted' | 'dismissed',
): Promise<Json<DestinationCorrection>> {
  await rows(
    tx,
    sql`update destination_corrections
        set decision = ${decision}, actor_kind = ${kind}, actor_id = ${actor}, decided_at = clock_time()
        where account_id = ${account} and id = ${id}`,
  );
  return oneRecord(
    tx,
    correctionColumns,
    sql`destination_corrections w ${correctionJoins} where w.account_id = ${account} and w.id = ${id}`,
  );
}

export const correctionList: ListDefinition = {
  id: 'w.id',
  defaultSort: 'due_on',
  sort: { due_on: 'w.due_on', id: 'w.id' },
  filters: {
    status: oneOf(CORRECTION_STATUSES, (status) => sql`${raw(correctionStatus)} = ${status}`),
    payout_id: opaqueId('po', 'w.payout_id'),
    affiliate_id: numberId((id) => sql`w.affiliate_id = ${id}`),
  },
};

/** A page of the corrections of an account. */
export function listOfCorrections(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<DestinationCorrection>> {
  return listPage(db, {
    list,
    name: 'destination_corrections',
    table: 'destination_corrections',
    alias: 'w',
    where: sql`w.account_id = ${account}`,
    record: correctionColumns,
    join: correctionJoins,
  });
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
