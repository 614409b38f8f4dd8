/** How affiliates are paid. The database has the same list: a new one needs a migration. */
export const PAYOUT_METHODS = ['paypal', 'wise', 'other'] as const;
export type PayoutMethod = (typeof PAYOUT_METHODS)[number];

/** What a request may choose of a payment file. */
export type Choice = 'currency' | 'part' | 'allow_skipped' | 'source_currency' | 'whole_units';

/** A file that a provider takes: each row is a payment. */
interface ProviderFile {
  readonly choices: readonly Choice[];
  readonly columns: readonly string[];
  /** The columns that name the payment and its currency. */
  readonly reference: string;
  readonly currency: string;
  /** How a row is known where the file has no header: what stands in its last column. */
  readonly mark: string | null;
}

/** The files that providers take, by the name of the format. The server writes them, `payhook` reads them back. */
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

/** A provider's file as code that serves all of them sees it. */
export const providerFile = (format: ProviderFormat): ProviderFile => PROVIDER_FILES[format];
