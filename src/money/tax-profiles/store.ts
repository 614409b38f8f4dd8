import sql, { type Sql } from 'sql-template-tag';
import {
  type Filter,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, TaxProfileId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { TAX_FORMS } from '../../terms/taxes.ts';
import { endedBy, endsSoonAfter, SOON_DAYS, todayIn } from '../ledger/agreements.ts';
import { lapsedBefore, lapsesIn, yearNow } from '../ledger/tax-forms.ts';
import { type NewTaxProfile, record, type TaxProfile } from './record.ts';
import type { SealedTaxId } from './sealed.ts';

const ofAffiliate = (account: AccountId, affiliate: number) =>
  sql`affiliate_tax_profiles x where x.account_id = ${account} and x.affiliate_id = ${affiliate}`;

/** The tax profile of an affiliate, or null. */
export function readTaxProfile(
  db: Reader,
  account: AccountId,
  affiliate: number,
): Promise<Json<TaxProfile> | null> {
  return maybeRecord(db, record, ofAffiliate(account, affiliate));
}

type Statuses = Readonly<Record<string, (account: AccountId) => Sql>>;

const FORM_STATUSES: Statuses = {
  none: () => sql`x.form is null`,
  valid: (account) => sql`x.form is not null and not ${lapsedBefore(yearNow(account))}`,
  lapsing: (account) => lapsesIn(yearNow(account)),
  lapsed: (account) => lapsedBefore(yearNow(account)),
};
const AGREEMENT_STATUSES: Statuses = {
  none: () => sql`x.self_billing is null`,
  valid: (account) => sql`x.self_billing is not null and not ${endedBy(todayIn(account))}`,
  ending: (account) => endsSoonAfter(todayIn(account)),
  ended: (account) => endedBy(todayIn(account)),
};

/** A filter of one of the statuses, with what they mean. */
function statusIn(statuses: Statuses, description: string): Filter {
  const filter = oneOf(Object.keys(statuses), (status, account) => statuses[status]?.(account) ?? sql`false`);
  return { ...filter, schema: { ...filter.schema, description } };
}

export const taxProfileList: ListDefinition = {
  id: 'x.affiliate_id',
  defaultSort: 'affiliate_id',
  sort: { affiliate_id: 'x.affiliate_id', legal_name: 'x.legal_name', signed_on: 'x.signed_on' },
  nullable: ['signed_on'],
  filters: {
    form: oneOf(TAX_FORMS, (form) => sql`x.form = ${form}`),
    form_status: statusIn(
      FORM_STATUSES,
      'none: no form; lapsing: valid until the end of this year; lapsed: no longer valid; valid: any other, and lapsing',
    ),
    self_billing_status: statusIn(
      AGREEMENT_STATUSES,
      `none: no agreement; ending: its last day is within ${SOON_DAYS} days; ended: it has passed; valid: any other, and ending`,
    ),
  },
};

/** A page of the tax profiles of an account. */
export function pageOfTaxProfiles(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<TaxProfile>> {
  return listPage(db, {
    list,
    name: 'tax_profiles',
    table: 'affiliate_tax_profiles',
    alias: 'x',
    where: sql`x.account_id = ${account}`,
    record,
  });
}

/**
 * The id that the tax profile of an affiliate has, or will have; null when there is no such affiliate. Until the end of
 * the transaction nobody else changes it.
 */
export async function lockTaxProfile(
  tx: Tx,
  account: AccountId,
  affiliate: number,
): Promise<TaxProfileId | null> {
  const owner = await maybeRow(
    tx,
    sql`select from affiliates where account_id = ${account} and id = ${affiliate} for no key update`,
  );
  if (owner === null) return null;
  // a statement of its own: it sees what was committed while the lock was waited for
  const { id } = await oneRow<{ id: TaxProfileId }>(
    tx,
    sql`select coalesce((select id from affiliate_tax_profiles
                         where account_id = ${account} and affiliate_id = ${affiliate}), new_id()) as id`,
  );
  return id;
}

/** Writes the tax profile of an affiliate; with `taxId` undefined the one there is stays. */
export async function writeTaxProfile(
  tx: Tx,
  { account, affiliate, id }: { account: AccountId; affiliate: number; id: TaxProfileId },
  p: Omit<NewTaxProfile, 'tax_id'>,
  taxId: SealedTaxId | null | undefined,
): Promise<Json<TaxProfile>> {
  const selfBilling = p.self_billing ? JSON.stringify(p.self_billing) : null;
  const keepsTaxId = taxId === undefined;
  await rows(
    tx,
    sql`insert into affiliate_tax_profiles as x (account_id, id, affiliate_id, legal_type, legal_name, country, address,
          tax_id_type, number, number_mark, ending, siren, electronic_address, form, signed_on, form_document, self_billing,
          created_at, updated_at)
        values (${account}, ${id}, ${affiliate}, ${p.legal_type}, ${p.legal_name}, ${p.country},
          ${JSON.stringify(p.address)}, ${taxId?.type ?? null}, ${taxId?.number ?? null}, ${taxId?.mark ?? null},
          ${taxId?.ending ?? null}, ${p.siren ?? null}, ${p.electronic_address ?? null}, ${p.form?.type ?? null}, ${p.form?.signed_on ?? null}, ${p.form?.document ?? null},
          ${selfBilling}, statement_timestamp(), statement_timestamp())
        on conflict (account_id, affiliate_id) do update set legal_type = excluded.legal_type,
          legal_name = excluded.legal_name, country = excluded.country, address = excluded.address,
          tax_id_type = case when ${keepsTaxId} then x.tax_id_type else excluded.tax_id_type end,
          number = case when ${keepsTaxId} then x.number else excluded.number end,
          number_mark = case when ${keepsTaxId} then x.number_mark else excluded.number_mark end,
          ending = case when ${keepsTaxId} then x.ending else excluded.ending end,
          siren = excluded.siren, electronic_address = excluded.electronic_address, form = excluded.form, signed_on = excluded.signed_on, form_document = excluded.form_document,
          self_billing = excluded.self_billing, updated_at = excluded.updated_at`,
  );
  return oneRecord(tx, record, ofAffiliate(account, affiliate));
}

/** Removes the tax profile of an affiliate; whether there was one. */
export async function deleteTaxProfile(tx: Tx, account: AccountId, affiliate: number): Promise<boolean> {
  const gone = await rows(
    tx,
    sql`delete from affiliate_tax_profiles where account_id = ${account} and affiliate_id = ${affiliate} returning 1`,
  );
  return gone.length > 0;
}
