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
 * How a supply is taxed, by the codes of UNTDID 5305 that EN 16931 knows: S at a rate, Z at zero, E exempt, AE reverse charge,
 * O outside the scope of VAT.
 */
export const TAX_CATEGORIES = ['S', 'Z', 'E', 'AE', 'O'] as const;
export type TaxCategory = (typeof TAX_CATEGORIES)[number];
