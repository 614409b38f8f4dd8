// Made by `npm run generate` from the list of fields of each noun (`fields.ts`): change those, not this file.

/** A field that requests can set, as forms and commands know it. */
export interface FormField {
  readonly label: string;
  /** How the value is typed. */
  readonly type: string;
  /** What the field is for, if the label does not say it. */
  readonly help?: string;
  /** The option of commands, such as `--name-first <name>`. */
  readonly option: string;
  readonly choices?: readonly string[];
  /** A new record needs it. */
  readonly isRequired?: true;
  /** The types of the record that need the field, and those that accept it; without both every type accepts it. */
  readonly neededBy?: readonly string[];
  readonly acceptedBy?: readonly string[];
  /** null clears it. */
  readonly isNullable?: true;
  /** The column of a file that gives it. */
  readonly column?: string;
}
export type FormFields = Readonly<Record<string, FormField>>;

export const AFFILIATE_FIELDS = {
  name_first: {
    label: 'First name',
    type: 'text',
    option: '--name-first <name>',
    isNullable: true,
    column: 'name_first',
  },
  name_last: {
    label: 'Last name',
    type: 'text',
    option: '--name-last <name>',
    isNullable: true,
    column: 'name_last',
  },
  email: {
    label: 'E-mail',
    type: 'email',
    help: 'unique in the account',
    option: '--email <email>',
    isRequired: true,
    column: 'email',
  },
  external_id: {
    label: 'Your id',
    type: 'id',
    help: 'your own id of the affiliate, unique in the account',
    option: '--external-id <id>',
    isNullable: true,
    column: 'external_id',
  },
  slug: {
    label: 'Short name',
    type: 'text',
    help: 'the affiliate in your links; searches include it',
    option: '--slug <slug>',
    isNullable: true,
    column: 'slug',
  },
  status: {
    label: 'Status',
    type: 'word',
    help: 'payouts leave out an inactive affiliate',
    option: '--status <status>',
    choices: ['active', 'inactive'],
    column: 'status',
  },
  payout_method: {
    label: 'Payment method',
    type: 'word',
    help: 'how payouts pay, unless a destination says otherwise',
    option: '--payout-method <method>',
    choices: ['paypal', 'wise', 'other'],
    isNullable: true,
    column: 'payout_method',
  },
  paypal_email: {
    label: 'PayPal address',
    type: 'email',
    help: 'the address that PayPal pays',
    option: '--paypal-email <email>',
    isNullable: true,
    column: 'paypal_email',
  },
  is_ready_for_payout: {
    label: 'Ready for payout',
    type: 'flag',
    help: 'your switch: payouts leave out an affiliate that is not ready',
    option: '--ready',
    column: 'is_ready_for_payout',
  },
  minimum_payout: {
    label: 'Minimum payout',
    type: 'amounts',
    help: 'used instead of the minimum of the account',
    option: '--minimums <list>',
    isNullable: true,
  },
  legal_type: {
    label: 'Legal type',
    type: 'word',
    help: 'what the affiliate is by law, if known',
    option: '--legal-type <type>',
    choices: ['person', 'business'],
    isNullable: true,
    column: 'legal_type',
  },
  country: {
    label: 'Country',
    type: 'country',
    help: 'where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)',
    option: '--country <code>',
    isNullable: true,
    column: 'country',
  },
  metadata: { label: 'Metadata', type: 'metadata', option: '--metadata <key=value>' },
} as const satisfies FormFields;

export const DESTINATION_FIELDS = {
  type: {
    label: 'Destination type',
    type: 'word',
    option: '--type <type>',
    choices: ['paypal', 'wise', 'other', 'sepa', 'ach'],
    isRequired: true,
    column: 'destination_type',
  },
  currency: {
    label: 'Currency',
    type: 'currency',
    help: 'only for this currency; without it, for every currency without its own destination',
    option: '--currency <currency>',
    isNullable: true,
  },
  account_holder: {
    label: 'Account holder',
    type: 'text',
    help: 'sepa, ach: the name of the account holder',
    option: '--account-holder <name>',
    neededBy: ['sepa', 'ach'],
    column: 'account_holder',
  },
  iban: {
    label: 'IBAN',
    type: 'text',
    help: 'sepa: the IBAN, with or without blanks',
    option: '--iban <iban>',
    neededBy: ['sepa'],
    column: 'iban',
  },
  bic: {
    label: 'BIC',
    type: 'text',
    help: 'sepa: the BIC, which few banks still ask for',
    option: '--bic <bic>',
    acceptedBy: ['sepa'],
    column: 'bic',
  },
  routing_number: {
    label: 'Routing number',
    type: 'text',
    help: 'ach: nine digits',
    option: '--routing-number <number>',
    neededBy: ['ach'],
    column: 'routing_number',
  },
  account_number: {
    label: 'Account number',
    type: 'text',
    help: 'ach: the number of the account',
    option: '--account-number <number>',
    neededBy: ['ach'],
    column: 'account_number',
  },
  account_type: {
    label: 'Account type',
    type: 'word',
    help: 'ach: the type of the account',
    option: '--account-type <type>',
    choices: ['checking', 'savings'],
    neededBy: ['ach'],
    column: 'account_type',
  },
} as const satisfies FormFields;
