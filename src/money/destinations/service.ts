import type { Reader, Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type DestinationId, numberIdOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import type { Vault } from '../../kernel/vault.ts';
import { knownCurrency } from '../../people/accounts/service.ts';
import { missingAffiliate } from '../affiliates/service.ts';
import { lockBooks, reviseCurrentPayout } from '../ledger/books.ts';
import { type CheckedDestination, checkDestination } from './check.ts';
import type { Destination, Destinations, NewDestination, VerifiedName } from './record.ts';
import { placeOf, sealDestination } from './sealed.ts';
import {
  carryVerification,
  endDestination,
  insertDestination,
  newDestinationId,
  readDestination,
  readDestinations,
  readSame,
  readVerified,
} from './store.ts';

/** Whose destinations, and what seals their numbers. */
interface Caller {
  readonly account: AccountId;
  readonly vault: Vault;
}

/** The destinations of an affiliate. Throws `resource_missing`. */
export async function getDestinations(
  db: Reader,
  account: AccountId,
  affiliateId: string,
): Promise<Json<Destinations>> {
  const id = numberIdOf(affiliateId);
  const json = id === null ? null : await readDestinations(db, account, id);
  if (json === null) throw missingAffiliate();
  return json;
}

/**
 * Sets where an affiliate is paid, in all currencies or one. It shows in the unpaid payout at once and raises its
 * revision. The same destination again is no change. Throws `resource_missing`, `invalid_body`.
 */
export async function putDestination(
  tx: Tx,
  { account, vault }: Caller,
  affiliateId: string,
  input: NewDestination,
): Promise<Json<Destination>> {
  const checked = checkDestination(input);
  const affiliate = numberIdOf(affiliateId);
  if (affiliate === null) throw missingAffiliate();
  await lockBooks(tx, account);
  const { json } = await replaceDestination(tx, { account, vault }, affiliate, checked);
  return json;
}

/** Sets a destination; its UUID, or null if it is the same as before. The caller has locked the books. */
async function replaceDestination(
  tx: Tx,
  { account, vault }: Caller,
  affiliate: number,
  checked: CheckedDestination,
): Promise<{ readonly id: DestinationId | null; readonly json: Json<Destination> }> {
  const id = await newDestinationId(tx, account, affiliate);
  if (id === null) throw missingAffiliate();
  const key = await sealingKey(tx);
  const which = { account, affiliate, currency: checked.currency };
  const sealed = sealDestination({ account, vault, key }, id, checked);
  const same = await readSame(tx, which, sealed);
  if (same !== null) return { id: null, json: same };
  await endDestination(tx, which);
  const json = await insertDestination(tx, which, id, sealed);
  await reviseCurrentPayout(tx, account, affiliate);
  return { id, json };
}

/**
 * Makes the name that the bank of the payee has the account holder. The account stays, the revision of the unpaid payout rises,
 * and the answer of the bank is kept with both destinations. `name` is the bank's name as the caller saw it. Throws
 * `resource_missing`, `invalid_body`, `no_verified_name`.
 */
export async function useVerifiedName(
  tx: Tx,
  { account, vault }: Caller,
  affiliateId: string,
  { currency: code, name }: VerifiedName,
): Promise<Json<Destination>> {
  const currency = code === undefined ? null : knownCurrency('currency', code);
  const affiliate = numberIdOf(affiliateId);
  if (affiliate === null) throw missingAffiliate();
  await lockBooks(tx, account);
  const which = { account, affiliate, currency };
  const verified = await readVerified(tx, which);
  if (verified === null) {
    if ((await readDestinations(tx, account, affiliate)) === null) throw missingAffiliate();
    throw fail('resource_missing', 'the affiliate has no such destination');
  }
  const { id: former, number, bic, bank_name, account_holder } = verified;
  if (bank_name === null || bank_name !== name || number === null)
    throw fail(
      'no_verified_name',
      'the bank has not given this name for the destination: read the destination again',
    );
  const checked = checkDestination({
    type: 'sepa',
    account_holder: bank_name,
    iban: vault.open(number, placeOf(account, former)),
    ...(bic === null ? {} : { bic }),
    ...(currency === null ? {} : { currency }),
  });
  const { id, json } = await replaceDestination(tx, { account, vault }, affiliate, checked);
  if (id === null) return json;
  await carryVerification(tx, account, { from: former, to: id, replaced: account_holder });
  return readDestination(tx, account, id);
}

/**
 * Removes a destination: the affiliate is paid as its other one says, or its own fields. Raises the revision of the unpaid
 * payout. Throws `resource_missing`, `invalid_query`.
 */
export async function removeDestination(
  tx: Tx,
  account: AccountId,
  affiliateId: string,
  code: string | undefined,
): Promise<void> {
  const currency = code === undefined ? null : normalizeCurrency(code);
  if (code !== undefined && currency === null) {
    throw fail('invalid_query', 'currency must be an ISO 4217 currency code');
  }
  const affiliate = numberIdOf(affiliateId);
  if (affiliate === null) throw missingAffiliate();
  await lockBooks(tx, account);
  if (!(await endDestination(tx, { account, affiliate, currency }))) {
    if ((await readDestinations(tx, account, affiliate)) === null) throw missingAffiliate();
    throw fail('resource_missing', 'the affiliate has no such destination');
  }
  await reviseCurrentPayout(tx, account, affiliate);
}
