import type { Static } from 'typebox';
import { newSchema, recordColumns, recordProperties } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { strict } from '../../contract/schemas.ts';
import { TAX_PROFILE_FIELDS } from './fields.ts';

/** Who an affiliate is to a tax office. Only the end of the tax id is shown. */
export const taxProfile = strict(recordProperties(TAX_PROFILE_FIELDS), { title: 'AffiliateTaxProfile' });
export type TaxProfile = Static<typeof taxProfile>;

/** The columns of the record, over `affiliate_tax_profiles x`. */
export const record = columnsOf(taxProfile, recordColumns(TAX_PROFILE_FIELDS, 'x'));

/** The input of a tax profile. It replaces the current one, except a tax id that is not given. */
export const newTaxProfile = newSchema(TAX_PROFILE_FIELDS);
export type NewTaxProfile = Static<typeof newTaxProfile>;
