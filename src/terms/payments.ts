/** How affiliates are paid. The database has the same list, so a new method needs a migration. */
export const PAYOUT_METHODS = ['paypal', 'wise', 'other'] as const;

/** Where an affiliate can be paid. `paypal`, `wise` and `other` mean what they mean as a payout method. */
export const DESTINATION_TYPES = [...PAYOUT_METHODS, 'wise_bank', 'sepa', 'ach'] as const;
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
  | 'execution_date'
  | 'instant';

/** A format of payment files: files that move money. */
export interface PaymentFileFormat {
  /** The name for people. */
  readonly label: string;
  /** A provider's file can be read back; a bank's needs the account's own bank data. */
  readonly kind: 'provider' | 'bank';
  /** What the file is, for the API description and the help of commands. */
  readonly about: string;
  /** What people do with the file. */
  readonly step: string;
  /** The destination type that an affiliate needs to be in the file. */
  readonly destination: DestinationType;
  /** Its only currency; null = several, each in a file of its own. */
  readonly currency: string | null;
  /** The field of the account that it is paid from, and what that holds; null = a file needs none. */
  readonly payer: { readonly field: 'debtor' | 'originator'; readonly about: string } | null;
  /** The maximum number of rows in a file. */
  readonly maxRows: number;
  readonly extension: string;
  readonly contentType: string;
  readonly choices: readonly Choice[];
  /** How a provider's file is read back. */
  readonly rows?: {
    readonly columns: readonly string[];
    /** Columns that only some files have. */
    readonly extra?: readonly string[];
    /** The columns with the reference and the currency of a payment. */
    readonly reference: string;
    readonly currency: string;
    /** The value in the last column by which rows are recognised in a file without a header. */
    readonly mark: string | null;
  };
}

const EVERY_FILE = ['currency', 'part', 'rows_per_file', 'allow_skipped'] as const;
const CSV = {
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8',
  currency: null,
  payer: null,
} as const;

/** The formats of payment files by name: the only list of them. API, commands, dashboard and guides read it. */
export const PAYMENT_FILES = {
  paypal: {
    ...CSV,
    label: 'PayPal',
    kind: 'provider',
    about: 'upload file of PayPal Payouts',
    step: 'Upload the file at PayPal under Payouts, check that its total matches, and approve it.',
    destination: 'paypal',
    maxRows: 5000,
    choices: [...EVERY_FILE, 'whole_units'],
    rows: {
      columns: ['recipient', 'amount', 'currency', 'reference', 'note', 'wallet'],
      reference: 'reference',
      currency: 'currency',
      mark: 'PAYPAL',
    },
  },
  wise: {
    ...CSV,
    label: 'Wise',
    kind: 'provider',
    about:
      'batch payments of Wise, to recipients known by e-mail; the amount that arrives is fixed and you pay the fees',
    step: 'Upload the file at Wise as a batch payment, check the recipients, and fund it.',
    destination: 'wise',
    maxRows: 1000,
    choices: [...EVERY_FILE, 'source_currency'],
    rows: {
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
  },
  wise_bank: {
    ...CSV,
    label: 'Wise to an IBAN',
    kind: 'provider',
    about:
      'batch payments of Wise in EUR, to recipients with an IBAN, who need not answer an e-mail; the amount that arrives is fixed and you ' +
      'pay the fees',
    step: 'Upload the file at Wise as a batch payment to bank accounts, check the recipients, and fund it.',
    destination: 'wise_bank',
    currency: 'eur',
    maxRows: 1000,
    choices: [...EVERY_FILE, 'source_currency'],
    rows: {
      columns: [
        'name',
        'recipientEmail',
        'paymentReference',
        'referenceNumber',
        'receiverType',
        'amountCurrency',
        'amount',
        'sourceCurrency',
        'targetCurrency',
        'IBAN',
      ],
      extra: ['addressCountryCode', 'addressCity', 'addressFirstLine', 'addressState', 'addressPostCode'],
      reference: 'paymentReference',
      currency: 'targetCurrency',
      mark: null,
    },
  },
  sepa: {
    label: 'SEPA',
    kind: 'bank',
    about: 'credit transfers in EUR for a European bank (pain.001)',
    step: 'Upload the file in your online banking, check that its sum matches, and release it.',
    destination: 'sepa',
    currency: 'eur',
    payer: { field: 'debtor', about: 'the name and IBAN that SEPA transfers are paid from' },
    maxRows: 10_000,
    extension: 'xml',
    contentType: 'application/xml; charset=utf-8',
    choices: [...EVERY_FILE, 'execution_date', 'instant'],
  },
  nacha: {
    label: 'NACHA',
    kind: 'bank',
    about: 'ACH credits in USD for a bank in the United States',
    step: 'Upload the file in the ACH service of your bank, check its total, and release it.',
    destination: 'ach',
    currency: 'usd',
    payer: { field: 'originator', about: "the sender of ACH payments, with your bank's data" },
    maxRows: 10_000,
    extension: 'ach',
    contentType: 'text/plain; charset=us-ascii',
    choices: [...EVERY_FILE, 'execution_date'],
  },
} as const satisfies Record<string, PaymentFileFormat>;

/** The name of a format whose file moves money. */
export type PaymentFormatName = keyof typeof PAYMENT_FILES;
/** The name of a provider's format. */
export type ProviderFormat = {
  [Name in PaymentFormatName]: (typeof PAYMENT_FILES)[Name]['kind'] extends 'provider' ? Name : never;
}[PaymentFormatName];

/** The names of the formats for which `has` is true. */
export const formatsWith = (has: (format: PaymentFileFormat) => boolean): PaymentFormatName[] =>
  (Object.keys(PAYMENT_FILES) as PaymentFormatName[]).filter((name) => has(PAYMENT_FILES[name]));

export const PAYMENT_FORMATS = formatsWith(() => true);
export const PROVIDER_FORMATS = formatsWith(({ kind }) => kind === 'provider') as ProviderFormat[];

/** How the file of a provider is read back. */
export const rowsOf = (format: ProviderFormat): NonNullable<PaymentFileFormat['rows']> =>
  PAYMENT_FILES[format].rows;

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
    const { mark, columns } = rowsOf(format);
    return mark === null
      ? columns.every((column) => cells.includes(column.toLowerCase()))
      : cells.length === columns.length && cells.at(-1) === mark.toLowerCase();
  };
  // the file of Wise to bank accounts has all columns of the one by e-mail, which precedes it
  return PROVIDER_FORMATS.findLast(isOf) ?? null;
}
