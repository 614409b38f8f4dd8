/** The kinds of tax id. The database has the same list, so a new kind needs a migration. */
export const TAX_ID_TYPES = ['us_ssn', 'us_itin', 'us_ein', 'vat', 'other'] as const;
export type TaxIdType = (typeof TAX_ID_TYPES)[number];

/** The kinds of form on which somebody says who they are to a tax office. The database has the same list. */
export const TAX_FORMS = [
  'w9',
  'w8ben',
  'w8bene',
  'w8eci',
  'w8exp',
  'w8imy',
  'vat_registration',
  'other',
] as const;

/**
 * Forms that are valid until the end of the third calendar year after the one in which they were signed, unless something on
 * them changes: 26 CFR 1.1441-1(e)(4)(ii)(A), and "Period of Validity" in the IRS's instructions for the requester of Forms
 * W-8. Some stay valid longer under conditions that Payhook does not know, such as evidence of a foreign address. A W-9 and a
 * W-8IMY do not lapse. Checked on 2026-11-27.
 */
export const LAPSING_FORMS = [
  'w8ben',
  'w8bene',
  'w8eci',
  'w8exp',
] as const satisfies readonly (typeof TAX_FORMS)[number][];
/** The number of calendar years after the year of the signature. */
export const YEARS_VALID = 3;

/**
 * How a supply is taxed, by the codes of UNTDID 5305 that EN 16931 knows: S at a rate, Z at zero, E exempt, AE reverse charge,
 * O outside the scope of VAT.
 */
export const TAX_CATEGORIES = ['S', 'Z', 'E', 'AE', 'O'] as const;
export type TaxCategory = (typeof TAX_CATEGORIES)[number];
