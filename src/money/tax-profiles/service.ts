import type { ListQuery, Page } from '../../contract/lists.ts';
import { readNow } from '../../db/clock.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, numberIdOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Vault } from '../../kernel/vault.ts';
import { missingAffiliate } from '../affiliates/service.ts';
import { checkTaxProfile, FUTURE_RULE, latestDay } from './check.ts';
import type { NewTaxProfile, TaxProfile } from './record.ts';
import { sealTaxId } from './sealed.ts';
import {
  deleteTaxProfile,
  lockTaxProfile,
  pageOfTaxProfiles,
  readTaxProfile,
  writeTaxProfile,
} from './store.ts';

/** Whose tax profiles, and what seals the tax ids. */
interface Caller {
  readonly account: AccountId;
  readonly vault: Vault;
}

const missingProfile = () =>
  fail('resource_missing', 'the affiliate has no tax profile, or there is no such affiliate');

/** The tax profile of an affiliate. Throws `resource_missing`. */
export async function getTaxProfile(
  db: Reader,
  account: AccountId,
  affiliateId: string,
): Promise<Json<TaxProfile>> {
  const id = numberIdOf(affiliateId);
  const json = id === null ? null : await readTaxProfile(db, account, id);
  if (json === null) throw missingProfile();
  return json;
}

/** A page of the tax profiles of an account. */
export const listTaxProfiles = (db: Reader, account: AccountId, list: ListQuery): Promise<Page<TaxProfile>> =>
  pageOfTaxProfiles(db, account, list);

/** Sets who an affiliate is to a tax office. Throws `resource_missing`, `invalid_body`. */
export async function putTaxProfile(
  tx: Tx,
  { account, vault }: Caller,
  affiliateId: string,
  input: NewTaxProfile,
): Promise<Json<TaxProfile>> {
  const { tax_id, ...checked } = checkTaxProfile(input);
  if (checked.form && checked.form.signed_on > latestDay(await readNow(tx)))
    throw fail('invalid_body', `form.signed_on ${FUTURE_RULE}`);
  const affiliate = numberIdOf(affiliateId);
  const id = affiliate === null ? null : await lockTaxProfile(tx, account, affiliate);
  if (affiliate === null || id === null) throw missingAffiliate();
  const sealed = tax_id ? sealTaxId({ account, vault, key: await sealingKey(tx) }, id, tax_id) : tax_id;
  return writeTaxProfile(tx, { account, affiliate, id }, checked, sealed);
}

/** Removes the tax profile of an affiliate. Throws `resource_missing`. */
export async function removeTaxProfile(tx: Tx, account: AccountId, affiliateId: string): Promise<void> {
  const affiliate = numberIdOf(affiliateId);
  if (affiliate === null) throw missingProfile();
  await lockTaxProfile(tx, account, affiliate);
  if (!(await deleteTaxProfile(tx, account, affiliate))) throw missingProfile();
}
