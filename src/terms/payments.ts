/** How affiliates are paid. The database has the same list, so a new method needs a migration. */
export const PAYOUT_METHODS = ['paypal', 'wise', 'other'] as const;

/** Where an affiliate can be paid. `paypal`, `wise` and `other` mean what they mean as a payout method. */
export const DESTINATION_TYPES = [...PAYOUT_METHODS, 'sepa', 'ach'] as const;
export type DestinationType = (typeof DESTINATION_TYPES)[number];

/** The kinds of account that an ACH payment goes to. */
export const ACCOUNT_TYPES = ['checking', 'savings'] as const;

/** The options of a request for a payment file. */
export type Choice =
  | 'currency'
  | 'part'
  | 'rows_per_file'
  | 'allow_skipped'
  | 'source_currency'
  | 'whole_units'
  | 'execution_date';

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
    choices: ['currency', 'part', 'rows_per_file', 'allow_skipped', 'whole_units'],
    columns: ['recipient', 'amount', 'currency', 'reference', 'note', 'wallet'],
    reference: 'reference',
    currency: 'currency',
    mark: 'PAYPAL',
  },
  wise: {
    choices: ['currency', 'part', 'rows_per_file', 'allow_skipped', 'source_currency'],
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

/** The banks' formats by name, with what may be chosen about a file. */
export const BANK_FILES = {
  sepa: ['currency', 'part', 'rows_per_file', 'allow_skipped', 'execution_date'],
  nacha: ['currency', 'part', 'rows_per_file', 'allow_skipped', 'execution_date'],
} as const satisfies Record<string, readonly Choice[]>;

export type BankFormat = keyof typeof BANK_FILES;
/** Every format whose file moves money. */
export type PaymentFormatName = ProviderFormat | BankFormat;
export const PAYMENT_FORMATS = [
  ...PROVIDER_FORMATS,
  ...(Object.keys(BANK_FILES) as BankFormat[]),
] as readonly PaymentFormatName[];

/** What may be chosen about a file. */
export const choicesOf = (format: PaymentFormatName): readonly Choice[] =>
  format in BANK_FILES ? BANK_FILES[format as BankFormat] : PROVIDER_FILES[format as ProviderFormat].choices;

/** A provider's format, typed for code that handles all of them. */
export const providerFile = (format: ProviderFormat): ProviderFile => PROVIDER_FILES[format];

const lowered = ({ columns }: ProviderFile) => columns.map((name) => name.toLowerCase());

/** Which provider's payment file a text begins, as it was exported, by its first line; null = another file. */
export function formatOfPaymentFile(text: string): ProviderFormat | null {
  const [first = ''] = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/, 1);
  const cells = first.split(',').map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase(),
  );
  const isOf = (format: ProviderFormat) => {
    const { mark, columns } = providerFile(format);
    return mark === null
      ? lowered(providerFile(format)).every((column) => cells.includes(column))
      : cells.length === columns.length && cells.at(-1) === mark.toLowerCase();
  };
  return PROVIDER_FORMATS.find(isOf) ?? null;
}
