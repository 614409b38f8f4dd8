import type { Principal } from '../../contract/route.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type DestinationId, numberIdOf, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import type { Vault } from '../../kernel/vault.ts';
import { knownCurrency } from '../../people/accounts/service.ts';
import type { Corrected } from '../../terms/ach-codes.ts';
import { missingAffiliate } from '../affiliates/service.ts';
import { lockBooks, reviseCurrentPayout } from '../ledger/books.ts';
import { type DestinationCorrection, placeOfCorrection } from '../ledger/corrections.ts';
import { type CheckedDestination, checkDestination } from './check.ts';
import type { Destination, Destinations, NewDestination, VerifiedName } from './record.ts';
import { placeOf, sealDestination } from './sealed.ts';
import {
  carryVerification,
  decideCorrection,
  endDestination,
  insertDestination,
  lockCorrection,
  newDestinationId,
  notifyOfDestination,
  readDestination,
  readDestinations,
  readSame,
  readStored,
  readVerified,
  type StoredDestination,
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
  await notifyOfDestination(tx, which, id);
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
  const { bank_name, ...destination } = verified;
  const { id: former, number, account_holder } = destination;
  if (bank_name === null || bank_name !== name || number === null)
    throw fail(
      'no_verified_name',
      'the bank has not given this name for the destination: read the destination again',
    );
  const { id, json } = await correctDestination(tx, { account, vault }, destination, {
    account_holder: bank_name,
  });
  if (id === null) return json;
  await carryVerification(tx, account, { from: former, to: id, replaced: account_holder });
  return readDestination(tx, account, id);
}

/** Replaces a destination by one that differs in what its bank says. The caller has locked the books. Throws `invalid_body`. */
function correctDestination(
  tx: Tx,
  { account, vault }: Caller,
  { id, affiliate_id, number, ...rest }: StoredDestination,
  corrected: Corrected,
) {
  const own = number === null ? null : vault.open(number, placeOf(account, id));
  const all = { ...rest, [rest.type === 'ach' ? 'account_number' : 'iban']: own, ...corrected };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  return replaceDestination(
    tx,
    { account, vault },
    Number(affiliate_id),
    checkDestination(given as unknown as NewDestination),
  );
}

/** The correction with this id, locked with the books. Throws `resource_missing`, `correction_not_open`. */
async function openCorrection(tx: Tx, account: AccountId, correctionId: string) {
  const id = uuidOf('cor', correctionId);
  if (id !== null) await lockBooks(tx, account);
  const correction = id === null ? null : await lockCorrection(tx, account, id);
  if (id === null || correction === null) throw fail('resource_missing', 'no such correction');
  const { status } = correction;
  if (status !== 'open')
    throw fail(
      'correction_not_open',
      status === 'outdated'
        ? 'where the affiliate is paid was changed since, so the correction is outdated'
        : `the correction was ${status} before`,
    );
  return { id, correction };
}

/**
 * Makes a destination what its bank says, which raises the revision of the unpaid payout. The correction is kept, with who accepted it.
 * Throws `resource_missing`, `correction_not_open`, `invalid_body`.
 */
export async function acceptCorrection(
  tx: Tx,
  principal: Principal,
  vault: Vault,
  correctionId: string,
): Promise<Json<DestinationCorrection>> {
  const { account } = principal;
  const { id, correction } = await openCorrection(tx, account, correctionId);
  const { number, last_four, destination_id, account_holder, routing_number, account_type } = correction;
  const destination = await readStored(tx, account, destination_id);
  if ((number === null && last_four !== null) || destination.number === null)
    throw fail(
      'correction_not_open',
      'an account number was lost with the secret key: set the destination again',
    );
  await correctDestination(tx, { account, vault }, destination, {
    ...(account_holder === null ? {} : { account_holder }),
    ...(routing_number === null ? {} : { routing_number }),
    ...(account_type === null ? {} : { account_type }),
    ...(number === null ? {} : { account_number: vault.open(number, placeOfCorrection(account, id)) }),
  });
  return decideCorrection(tx, principal, id, 'accepted');
}

/** Leaves a destination as it is. Throws `resource_missing`, `correction_not_open`. */
export async function dismissCorrection(
  tx: Tx,
  principal: Principal,
  correctionId: string,
): Promise<Json<DestinationCorrection>> {
  const { id } = await openCorrection(tx, principal.account, correctionId);
  return decideCorrection(tx, principal, id, 'dismissed');
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
  await notifyOfDestination(tx, { account, affiliate, currency }, null);
}
