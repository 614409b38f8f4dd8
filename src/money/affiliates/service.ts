import { changesOf } from '../../contract/changes.ts';
import { namesOf, normalised } from '../../contract/fields.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/faults.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, numberIdOf } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import { publish } from '../../outbox/queue.ts';
import { knownAmounts } from '../../people/accounts/service.ts';
import { lockBooks, reviseCurrentPayout } from '../ledger/books.ts';
import { AFFILIATE_FIELDS } from './fields.ts';
import type { Affiliate, AffiliateChange, AffiliateWithBalance } from './record.ts';
import {
  type Duplicate,
  findDuplicate,
  idByExternalId,
  insertAffiliate,
  lockAffiliateRow,
  notifyOfRedirect,
  readAffiliate,
  readAffiliateRow,
  updateAffiliate,
} from './store.ts';

/** The fields that an unpaid payout shows the current values of. */
export const PAYOUT_FIELDS = namesOf(AFFILIATE_FIELDS, ({ affectsPayouts }) => affectsPayouts);
const WRITABLE = namesOf(AFFILIATE_FIELDS);

/** Runs a write and turns its unique violations, caused by concurrent inserts, into errors that name the field. */
export async function refuseDuplicates<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const constraint = uniqueViolation(error);
    if (constraint === 'affiliates_email') {
      throw fail('duplicate_email', 'email: another affiliate of the account has this e-mail address');
    }
    if (constraint === 'affiliates_external_id') {
      throw fail(
        'duplicate_external_id',
        'external_id: another affiliate of the account has this external_id',
      );
    }
    throw error;
  }
}

/** Creates an affiliate. Throws `duplicate_email`, `duplicate_external_id`, with the Location of the existing one. */
export async function createAffiliate(
  tx: Tx,
  account: AccountId,
  input: AffiliateChange,
): Promise<Json<Affiliate>> {
  const made = await makeOrFind(tx, account, input);
  if (typeof made === 'string') return made;
  throw duplicateOf(made);
}

/** Creates and publishes an affiliate, or finds the one that already has its external_id or e-mail address. */
async function makeOrFind(
  tx: Tx,
  account: AccountId,
  input: AffiliateChange,
): Promise<Json<Affiliate> | Duplicate> {
  const affiliate = normalised(AFFILIATE_FIELDS, input);
  for (;;) {
    const json = await insertAffiliate(tx, account, affiliate);
    if (json !== null) {
      await publish(tx, { account, type: 'affiliate.created', data: json });
      return json;
    }
    const duplicate = await findDuplicate(tx, account, affiliate);
    // null: it was renamed in the meantime, so the value is free
    if (duplicate !== null) return duplicate;
  }
}

function duplicateOf({ id, field }: Duplicate) {
  const words = { email: 'e-mail address', external_id: 'external_id' };
  return fail(`duplicate_${field}`, `${field}: affiliate ${id} of the account has this ${words[field]}`, {
    location: `/v2/affiliates/${id}`,
  });
}

/**
 * Creates the affiliate with this external_id, or updates the given fields if it exists. Concurrent calls create one.
 * Throws as `createAffiliate` and `changeAffiliate`; `invalid_body` for a new one without an e-mail address.
 */
export async function putAffiliate(
  tx: Tx,
  account: AccountId,
  externalId: string,
  input: Omit<AffiliateChange, 'external_id'>,
): Promise<{ json: Json<Affiliate>; isNew: boolean }> {
  const id = await idByExternalId(tx, account, externalId);
  const made = id === null ? await makeOrFind(tx, account, named(externalId, input)) : { id };
  if (typeof made === 'string') return { json: made, isNew: true };
  if ('field' in made && made.field === 'email') throw duplicateOf(made);
  return { json: await changeById(tx, account, made.id, input), isNew: false };
}

/** Throws `invalid_body` when the input is not enough for a new affiliate. */
function named(externalId: string, input: AffiliateChange): AffiliateChange {
  if (input.email === undefined)
    throw fail('invalid_body', 'email is required: there is no affiliate with this external_id yet');
  if ([...externalId].length > 255)
    throw fail('invalid_body', 'external_id must have at most 255 characters');
  return { ...input, external_id: externalId };
}

/** The affiliate with this external_id and its balance. Throws `resource_missing`. */
export async function getByExternalId(
  db: Reader,
  account: AccountId,
  externalId: string,
): Promise<Json<AffiliateWithBalance>> {
  const id = await idByExternalId(db, account, externalId);
  return found(id === null ? null : await readAffiliate(db, account, id));
}

/**
 * Updates the given fields of an affiliate; null clears a field. A new name or destination shows in the unpaid payout
 * at once and raises its revision. Values that do not change are no change. Throws `resource_missing`,
 * `duplicate_email`, `duplicate_external_id`.
 */
export async function changeAffiliate(
  tx: Tx,
  account: AccountId,
  affiliateId: string,
  input: AffiliateChange,
): Promise<Json<Affiliate>> {
  // invalid fields are reported before a missing affiliate
  if (input.minimum_payout) knownAmounts('minimum_payout', input.minimum_payout);
  const id = numberIdOf(affiliateId);
  if (id === null) throw missingAffiliate();
  return changeById(tx, account, id, input);
}

/** Ends the notices to an affiliate, who asked for it by a signed link; whether there is such an affiliate. */
export async function endNotices(tx: Tx, account: AccountId, id: number): Promise<boolean> {
  if ((await readAffiliateRow(tx, account, id)) === null) return false;
  await changeById(tx, account, id, { is_notified: false });
  return true;
}

async function changeById(
  tx: Tx,
  account: AccountId,
  id: number,
  input: AffiliateChange,
): Promise<Json<Affiliate>> {
  const redirects = PAYOUT_FIELDS.some((field) => input[field] !== undefined);
  if (redirects) await lockBooks(tx, account);
  const before = found(await lockAffiliateRow(tx, account, id));
  const was = fromJson(before);
  const affiliate = normalised(AFFILIATE_FIELDS, input, was);
  if (affiliate.email || affiliate.external_id) {
    const duplicate = await findDuplicate(tx, account, affiliate, id);
    if (duplicate !== null) throw duplicateOf(duplicate);
  }
  const changes = changesOf(affiliate, WRITABLE);
  const json = changes && (await refuseDuplicates(updateAffiliate(tx, account, id, changes)));
  if (json === null) return before;
  await publish(tx, { account, type: 'affiliate.updated', data: json, before });
  if (redirects && isRedirected(was, fromJson(json))) {
    await reviseCurrentPayout(tx, account, id);
    await notifyOfRedirect(tx, account, id, before);
  }
  return json;
}

function found<T>(json: Json<T> | null): Json<T> {
  if (json === null) throw missingAffiliate();
  return json;
}

const isRedirected = (before: Affiliate, after: Affiliate) =>
  PAYOUT_FIELDS.some((field) => before[field] !== after[field]);

/** The error for an id that is not an affiliate of the account. */
export function missingAffiliate() {
  return fail('resource_missing', 'no such affiliate');
}
