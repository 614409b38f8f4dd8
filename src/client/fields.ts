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
  /** The word that clears it, or the object that it is a part of, on the command line; by default `none`. */
  readonly clearWord?: string;
  /** Whether a portal can set it. */
  readonly isOfPortal?: boolean;
  /** The range of a whole number. */
  readonly from?: number;
  readonly to?: number;
  /** A new record needs it. */
  readonly isRequired?: true;
  /** The optional object that it is a part of needs it. */
  readonly isNeededInObject?: true;
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
  language: {
    label: 'Language',
    type: 'word',
    help: 'of e-mails to the affiliate; without it, that of the account',
    option: '--language <code>',
    choices: ['en', 'de', 'fr', 'es'],
    isNullable: true,
    column: 'language',
  },
  is_notified: {
    label: 'E-mails about payments',
    type: 'flag',
    help: 'whether the affiliate gets the e-mails that the account sends; the affiliate can end them by a link in each',
    option: '--notified',
  },
  metadata: { label: 'Metadata', type: 'metadata', option: '--metadata <key=value>' },
} as const satisfies FormFields;

export const COMMISSION_FIELDS = {
  external_id: {
    label: 'Your id',
    type: 'id',
    help: 'your id, unique forever',
    option: '--external-id <id>',
    isRequired: true,
    column: 'external_id',
  },
  affiliate_id: {
    label: 'Affiliate',
    type: 'id',
    help: 'who earned it',
    option: '--affiliate <affiliate>',
    column: 'affiliate_id',
  },
  affiliate_external_id: {
    label: 'Affiliate, by your id',
    type: 'id',
    help: 'who earned it, by your own id',
    option: '--affiliate <affiliate>',
    column: 'affiliate_external_id',
  },
  affiliate_email: {
    label: 'Affiliate, by e-mail',
    type: 'email',
    help: 'who earned it, by e-mail address, in any case',
    option: '--affiliate <affiliate>',
    column: 'affiliate_email',
  },
  program_id: {
    label: 'Program',
    type: 'id',
    help: 'the program whose hold applies',
    option: '--program <program>',
    isNullable: true,
    column: 'program_id',
  },
  type: {
    label: 'Type',
    type: 'word',
    option: '--type <type>',
    choices: ['sale', 'recurring', 'bonus'],
    column: 'type',
  },
  amount: {
    label: 'Commission',
    type: 'money',
    help: 'what the affiliate gets',
    option: '--amount <amount>',
    from: 1,
    to: 1000000000000,
    column: 'amount',
  },
  currency: { label: 'Currency', type: 'currency', option: '--currency <currency>', column: 'currency' },
  sale_amount: {
    label: 'Sale',
    type: 'money',
    help: 'the amount of the sale',
    option: '--sale-amount <amount>',
    from: 0,
    to: 1000000000000,
    isNullable: true,
    column: 'sale_amount',
  },
  rate_bps: {
    label: 'Rate',
    type: 'rate',
    help: 'basis points of the sale: 2000 is 20 %',
    option: '--rate-bps <number>',
    from: 0,
    to: 10000,
    isNullable: true,
    column: 'rate_bps',
  },
  order_id: {
    label: 'Order',
    type: 'id',
    help: 'the order in the shop, by which refunds find it',
    option: '--order <order>',
    isNullable: true,
    column: 'order_id',
  },
  order_line_id: {
    label: 'Order line',
    type: 'id',
    help: 'the line of the order: commissions with the same line are shares of one sale',
    option: '--order-line <line>',
    isNullable: true,
    column: 'order_line_id',
  },
  customer_email: {
    label: 'Customer',
    type: 'email',
    help: 'the e-mail address of the buyer',
    option: '--customer-email <email>',
    isNullable: true,
    column: 'customer_email',
  },
  product_id: {
    label: 'Product id',
    type: 'id',
    option: '--product <product>',
    isNullable: true,
    column: 'product_id',
  },
  product_name: {
    label: 'Product',
    type: 'text',
    help: 'the name of the product',
    option: '--product-name <name>',
    isNullable: true,
    column: 'product_name',
  },
  description: {
    label: 'Description',
    type: 'text',
    option: '--description <text>',
    isNullable: true,
    column: 'description',
  },
  occurred_at: { label: 'Earned', type: 'time', option: '--occurred-at <when>', column: 'occurred_at' },
  metadata: { label: 'Metadata', type: 'metadata', option: '--metadata <key=value>', isNullable: true },
} as const satisfies FormFields;

export const DESTINATION_FIELDS = {
  type: {
    label: 'Destination type',
    type: 'word',
    option: '--type <type>',
    choices: ['paypal', 'wise', 'other', 'wise_bank', 'sepa', 'ach'],
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
    help: 'wise_bank, sepa, ach: the name of the account holder',
    option: '--account-holder <name>',
    neededBy: ['wise_bank', 'sepa', 'ach'],
    column: 'account_holder',
  },
  iban: {
    label: 'IBAN',
    type: 'text',
    help: 'wise_bank, sepa: the IBAN, with or without blanks',
    option: '--iban <iban>',
    neededBy: ['wise_bank', 'sepa'],
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

export const ENDPOINT_FIELDS = {
  url: {
    label: 'URL',
    type: 'other',
    help: 'where events are sent, including pending ones',
    option: '--url <url>',
    isOfPortal: true,
    isRequired: true,
  },
  description: {
    label: 'Description',
    type: 'text',
    help: 'a note of yours',
    option: '--description <text>',
    isOfPortal: true,
    isNullable: true,
  },
  owner: {
    label: 'Owner',
    type: 'text',
    help: 'your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint that has an owner keeps it',
    option: '--owner <name>',
    isOfPortal: false,
    isNullable: true,
  },
  event_types: {
    label: 'Events',
    type: 'other',
    help: 'the types of events that it receives',
    option: '--types <types>',
    isOfPortal: true,
    isNullable: true,
  },
  filter: {
    label: 'Filter',
    type: 'other',
    help: 'conditions on the payload',
    option: '--filter <json>',
    isOfPortal: false,
    isNullable: true,
  },
  status: {
    label: 'Status',
    type: 'other',
    help: 'events for a disabled endpoint are held until it is enabled',
    option: '--status <status>',
    choices: ['enabled', 'disabled'],
    isOfPortal: true,
  },
  ordered: {
    label: 'Ordered',
    type: 'flag',
    help: 'events with the same ordering key are sent one after the other, in the order in which they were published',
    option: '--ordered',
    isOfPortal: true,
  },
  batch: { label: 'Batches', type: 'other', option: '--batch <number>', isOfPortal: true, isNullable: true },
  rate_limit: {
    label: 'Requests per second',
    type: 'integer',
    help: 'the most requests that it is sent in a second',
    option: '--rate-limit <number>',
    from: 1,
    to: 10000,
    isOfPortal: true,
    isNullable: true,
  },
  max_age: {
    label: 'Seconds until an event expires',
    type: 'integer',
    help: 'an event that was not delivered this many seconds after it was created is cancelled instead of sent',
    option: '--max-age <seconds>',
    from: 1,
    to: 31536000,
    isOfPortal: true,
    isNullable: true,
  },
  headers: {
    label: 'Custom headers',
    type: 'other',
    help: 'your own headers, sent with every delivery',
    option: '--header <name:value>',
    isOfPortal: true,
  },
  payload: {
    label: 'Payload',
    type: 'word',
    help: 'the form of the events: a thin one has no data, which the receiver reads with an API key',
    option: '--payload <form>',
    choices: ['full', 'thin', 'cloudevents'],
    isOfPortal: true,
  },
  signing: {
    label: 'Signed as',
    type: 'other',
    option: '--signing <scheme>',
    choices: ['standard', 'stripe', 'github', 'shopify', 'slack', 'custom'],
    isOfPortal: true,
  },
  custom_signing: {
    label: 'Custom scheme',
    type: 'other',
    option: '--custom-signing <json>',
    isOfPortal: true,
    isNullable: true,
  },
  secret: { label: 'Secret', type: 'other', option: '--secret <secret>', isOfPortal: true },
  second_signature: {
    label: 'Second signature',
    type: 'other',
    option: '--second-until <when>',
    isOfPortal: true,
    isNullable: true,
  },
  proxy: { label: 'Proxy', type: 'other', option: '--proxy <url>', isOfPortal: false, isNullable: true },
  client_certificate: {
    label: 'Client certificate',
    type: 'other',
    option: '--client-certificate <file>',
    isOfPortal: false,
    isNullable: true,
  },
  client_credentials: {
    label: 'Access token',
    type: 'other',
    option: '--token-url <url>',
    isOfPortal: false,
    isNullable: true,
  },
  metadata: { label: 'Metadata', type: 'metadata', option: '--metadata <key=value>', isOfPortal: false },
} as const satisfies FormFields;

export const PROGRAM_FIELDS = {
  name: {
    label: 'Name',
    type: 'text',
    help: 'unique in the account',
    option: '--name <name>',
    isRequired: true,
  },
  hold_days: {
    label: 'Hold',
    type: 'integer',
    help: 'the days for which new commissions are on hold',
    option: '--hold-days <days>',
    from: 0,
    to: 3650,
    clearWord: 'account',
    isNullable: true,
  },
  metadata: { label: 'Metadata', type: 'metadata', option: '--metadata <key=value>' },
} as const satisfies FormFields;

export const REFUND_FIELDS = {
  external_id: {
    label: 'Your id',
    type: 'id',
    help: 'your own id of the refund, unique forever',
    option: '--external-id <id>',
    isRequired: true,
  },
  order_id: { label: 'Order', type: 'id', option: '--order <order>', isRequired: true },
  product_id: { label: 'Product', type: 'id', option: '--product <product>', isNullable: true },
  currency: { label: 'Currency', type: 'currency', option: '--currency <currency>' },
  lines: { label: 'Lines', type: 'other', option: '--line <line[=amount]>' },
  amount: { label: 'Commission', type: 'money', option: '--amount <amount>', from: 1, to: 1000000000000 },
  sale_amount: { label: 'Sale', type: 'money', option: '--sale-amount <amount>', from: 1, to: 1000000000000 },
  reason: { label: 'Reason', type: 'text', help: 'why', option: '--reason <text>', isNullable: true },
  occurred_at: {
    label: 'Refunded',
    type: 'time',
    help: 'when the customer was refunded',
    option: '--occurred-at <when>',
  },
} as const satisfies FormFields;

export const TAX_PROFILE_FIELDS = {
  legal_type: {
    label: 'Legal type',
    type: 'word',
    help: 'who signed',
    option: '--legal-type <type>',
    choices: ['person', 'business'],
    isRequired: true,
  },
  legal_name: {
    label: 'Legal name',
    type: 'text',
    help: 'the name as signed',
    option: '--legal-name <name>',
    isRequired: true,
    column: 'legal_name',
  },
  country: {
    label: 'Tax country',
    type: 'country',
    help: 'the tax country, in two letters',
    option: '--country <country>',
    isRequired: true,
    column: 'tax_country',
  },
  'address.line1': {
    label: 'Address',
    type: 'text',
    help: 'street and number',
    option: '--line1 <line>',
    isRequired: true,
    column: 'address_line1',
  },
  'address.line2': {
    label: 'Address, line 2',
    type: 'text',
    option: '--line2 <line>',
    isNullable: true,
    column: 'address_line2',
  },
  'address.postal_code': {
    label: 'Postal code',
    type: 'text',
    option: '--postal-code <code>',
    isNullable: true,
    column: 'address_postal_code',
  },
  'address.city': {
    label: 'City',
    type: 'text',
    option: '--city <city>',
    isRequired: true,
    column: 'address_city',
  },
  'address.region': {
    label: 'State or province',
    type: 'text',
    help: 'state or province; two letters in the United States',
    option: '--region <region>',
    isNullable: true,
    column: 'address_region',
  },
  'tax_id.type': {
    label: 'Kind of tax id',
    type: 'word',
    option: '--tax-id-type <type>',
    choices: ['us_ssn', 'us_itin', 'us_ein', 'vat', 'other'],
    isNeededInObject: true,
    column: 'tax_id_type',
  },
  'tax_id.number': {
    label: 'Tax id',
    type: 'text',
    help: 'the tax id, with or without spaces and hyphens; it cannot be read back',
    option: '--tax-id <number>',
    clearWord: 'none',
    isNeededInObject: true,
    column: 'tax_id',
  },
  'form.type': {
    label: 'Signed form',
    type: 'word',
    help: 'the form that was signed',
    option: '--form <form>',
    choices: ['w9', 'w8ben', 'w8bene', 'w8eci', 'w8exp', 'w8imy', 'vat_registration', 'other'],
    isNeededInObject: true,
    column: 'tax_form',
  },
  'form.signed_on': {
    label: 'Signed on',
    type: 'day',
    help: 'the day the form was signed',
    option: '--signed-on <day>',
    isNeededInObject: true,
    column: 'tax_form_signed_on',
  },
  'form.document': {
    label: 'Document of the form',
    type: 'text',
    help: 'where you keep the form: a name, number or link',
    option: '--form-document <text>',
    isNullable: true,
    column: 'tax_form_document',
  },
  'self_billing.agreed_on': {
    label: 'Self-billing agreed on',
    type: 'day',
    help: 'the day; empty if they write their own invoices',
    option: '--self-billing-on <day>',
    isNeededInObject: true,
    column: 'self_billing_agreed_on',
  },
  'self_billing.agreed_by': {
    label: 'Agreed by',
    type: 'text',
    help: 'the name of the person who agreed',
    option: '--self-billing-by <name>',
    isNeededInObject: true,
    column: 'self_billing_agreed_by',
  },
  'self_billing.document': {
    label: 'Document of the agreement',
    type: 'text',
    help: 'where you keep the agreement: a name, number or link',
    option: '--self-billing-document <text>',
    isNullable: true,
    column: 'self_billing_document',
  },
} as const satisfies FormFields;

/** The signature schemes of other products (`webhooks/signing/known-schemes.ts`); names in braces stand for values. */
export const SIGNING_SCHEMES = {
  standard: { label: 'Standard Webhooks', header: 'webhook-signature', content: '{id}.{timestamp}.{body}' },
  stripe: { label: 'Stripe', header: 'stripe-signature', content: '{timestamp}.{body}' },
  github: { label: 'GitHub', header: 'x-hub-signature-256', content: '{body}' },
  shopify: { label: 'Shopify', header: 'x-shopify-hmac-sha256', content: '{body}' },
  slack: { label: 'Slack', header: 'x-slack-signature', content: 'v0:{timestamp}:{body}' },
} as const;
