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
  /** null clears it. */
  readonly isNullable?: true;
  /** Columns of files can give it. */
  readonly isImported?: true;
}
export type FormFields = Readonly<Record<string, FormField>>;

export const AFFILIATE_FIELDS = {
  name_first: {
    label: 'First name',
    type: 'text',
    option: '--name-first <name>',
    isNullable: true,
    isImported: true,
  },
  name_last: {
    label: 'Last name',
    type: 'text',
    option: '--name-last <name>',
    isNullable: true,
    isImported: true,
  },
  email: {
    label: 'E-mail',
    type: 'email',
    help: 'unique in the account',
    option: '--email <email>',
    isRequired: true,
    isImported: true,
  },
  external_id: {
    label: 'Your id',
    type: 'id',
    help: 'your own id of the affiliate, unique in the account',
    option: '--external-id <id>',
    isNullable: true,
    isImported: true,
  },
  slug: {
    label: 'Short name',
    type: 'text',
    help: 'the affiliate in your links; searches include it',
    option: '--slug <slug>',
    isNullable: true,
    isImported: true,
  },
  status: {
    label: 'Status',
    type: 'word',
    help: 'payouts leave out an inactive affiliate',
    option: '--status <status>',
    choices: ['active', 'inactive'],
    isImported: true,
  },
  payout_method: {
    label: 'Payment method',
    type: 'word',
    help: 'how payouts pay, unless a destination says otherwise',
    option: '--payout-method <method>',
    choices: ['paypal', 'wise', 'other'],
    isNullable: true,
    isImported: true,
  },
  paypal_email: {
    label: 'PayPal address',
    type: 'email',
    help: 'the address that PayPal pays',
    option: '--paypal-email <email>',
    isNullable: true,
    isImported: true,
  },
  is_ready_for_payout: {
    label: 'Ready for payout',
    type: 'flag',
    help: 'your switch: payouts leave out an affiliate that is not ready',
    option: '--ready',
    isImported: true,
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
    isImported: true,
  },
  country: {
    label: 'Country',
    type: 'country',
    help: 'where the affiliate pays taxes: two letters such as DE (ISO 3166-1 alpha-2)',
    option: '--country <code>',
    isNullable: true,
    isImported: true,
  },
  metadata: { label: 'Metadata', type: 'metadata', option: '--metadata <key=value>' },
} as const satisfies FormFields;

/** The signature schemes of other products (`webhooks/signing/known-schemes.ts`); names in braces stand for values. */
export const SIGNING_SCHEMES = {
  standard: { label: 'Standard Webhooks', header: 'webhook-signature', content: '{id}.{timestamp}.{body}' },
  stripe: { label: 'Stripe', header: 'stripe-signature', content: '{timestamp}.{body}' },
  github: { label: 'GitHub', header: 'x-hub-signature-256', content: '{body}' },
  shopify: { label: 'Shopify', header: 'x-shopify-hmac-sha256', content: '{body}' },
  slack: { label: 'Slack', header: 'x-slack-signature', content: 'v0:{timestamp}:{body}' },
} as const;
