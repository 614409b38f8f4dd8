/** How affiliates are paid. The database has the same list, so a new method needs a migration. */
export const PAYOUT_METHODS = ['paypal', 'wise', 'other'] as const;
export type PayoutMethod = (typeof PAYOUT_METHODS)[number];

/** The options of a request for a payment file. */
export type Choice = 'currency' | 'part' | 'allow_skipped' | 'source_currency' | 'whole_units';

/** A payment file in a provider's format: each row is a payment. */
interface ProviderFile {
  readonly choices: readonly Choice[];
  readonly columns: readonly string[];
  /** The columns with the reference and the currency of a payment. */
  readonly reference: string;
  readonly currency: string;
  /** The value in the last column by which rows are recognised in a file without a header. */
  readonly mark: string | null;
}

/** The providers' formats by name. The server writes these files, and `payhook` reads them back. */
export const PROVIDER_FILES = {
  paypal: {
    choices: ['currency', 'part', 'allow_skipped', 'whole_units'],
    columns: ['recipient', 'amount', 'currency', 'reference', 'note', 'wallet'],
    reference: 'reference',
    currency: 'currency',
    mark: 'PAYPAL',
  },
  wise: {
    choices: ['currency', 'part', 'allow_skipped', 'source_currency'],
    columns: [
      'name',
      'recipientEmail',
      'paymentReference',
      'receiverType',
      'amountCurrency',
      'amount',
      'sourceCurrency',
      'targetCurrency',
    ],
    reference: 'paymentReference',
    currency: 'targetCurrency',
    mark: null,
  },
} as const satisfies Record<string, ProviderFile>;

export type ProviderFormat = keyof typeof PROVIDER_FILES;
export const PROVIDER_FORMATS = Object.keys(PROVIDER_FILES) as ProviderFormat[];

/** A provider's format, typed for code that handles all of them. */
export const providerFile = (format: ProviderFormat): ProviderFile => PROVIDER_FILES[format];
