import { type Static, type TString, Type } from 'typebox';
import { address, addressInput, country, countryInput } from '../../contract/addresses.ts';
import { columnsOf } from '../../contract/records.ts';
import {
  amounts,
  currencyCode,
  currencyInput,
  minimums,
  nullable,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { affiliateNotices, affiliateNoticesInput } from './affiliate-notices.ts';
import { contactNotices, contactNoticesInput } from './contact-notices.ts';
import { invoicing, invoicingInput } from './invoicing.ts';
import { MASKED, originator, originatorInput, type StoredOriginator } from './originator.ts';
import { payoutSignals, payoutSignalsColumn, payoutSignalsInput } from './payout-signals.ts';

const holdDays = Type.Integer({ minimum: 0, maximum: 3650, description: 'days a new commission is on hold' });
const timeZone = Type.String({
  description: 'IANA name: the time zone of days without a time, in filters, files and reports',
  examples: ['Europe/Berlin'],
});
const paypalLimit = amounts('minor units per currency code: the largest single payment PayPal sends');

const approval = Type.Enum(['none', 'second_person'], {
  title: 'ApprovalRule',
  description:
    'second_person: a payout is paid only after a person who did not create it has approved it. Only a signed-in ' +
    'owner, or the operator, may change it back to none',
});

const destinationWait = Type.Integer({
  minimum: 0,
  maximum: 720,
  description:
    'hours for which whoever changed where they are paid is not paid; 0 = none. Only a signed-in owner, or the operator, may ' +
    'lower it',
});

/** When a rule about tax forms applies: who needs one to be paid, and from whom is withheld. */
const PAYOUT_FORMS = ['none', 'at_threshold', 'always'] as const;
export type PayoutForm = (typeof PAYOUT_FORMS)[number];
const payoutForm = Type.Enum([...PAYOUT_FORMS], {
  title: 'PayoutFormRule',
  description:
    'who is left out of payouts without a valid W-9 or W-8. at_threshold: whose payments of the year in US dollars, with this one, ' +
    'reach the threshold of Form 1099-NEC, PayPal aside; always: everybody',
});

/** From whom payouts withhold for the IRS. */
const backupWithholding = Type.Enum([...PAYOUT_FORMS], {
  title: 'BackupWithholdingRule',
  description:
    'whether payouts withhold 24 % of payments in US dollars, PayPal aside, to affiliates in the United States without a W-9 or a US tax ' +
    'id. at_threshold: once their payments of the year, with this one, reach the threshold of Form 1099-NEC, or if those of the year ' +
    'before did or something was withheld; always: from the first payment on. Fixed in each line when a payout is created',
});

/** Whether commissions include the tax. */
export const commissionsAre = Type.Enum(['gross', 'net'], {
  title: 'CommissionsAre',
  description:
    'gross: they include the tax. net: payouts pay the tax of `invoicing` on top; fixed in each line when a payout is created',
});

const stateThresholds = Type.Record(
  Type.String(),
  nullable(Type.Integer({ minimum: 0, maximum: MAX_AMOUNT })),
  {
    description:
      'cents by the two letters of a state, for example {"CA": 60000, "OH": null}: the sum of a year from which you report to it, in ' +
      'place of the built-in table; null: you report nothing',
  },
);

const eventOwner = Type.Enum(['optional', 'required'], {
  title: 'EventOwnerRule',
  description:
    'required: publishing an event without an `owner` is refused, so that none reaches the endpoints of every recipient by mistake',
});
const eventValidation = Type.Enum(['off', 'warn', 'refuse'], {
  title: 'EventValidationRule',
  description:
    'what happens to an event whose data violates the schema of its type. warn: it is accepted, the answer has the header ' +
    'Payhook-Schema-Violation, and the type its `last_violation`; refuse: publishing is refused. Types without a schema are accepted',
});
const endpointsPerOwner = nullable(
  Type.Integer({
    minimum: 1,
    maximum: 100_000,
    description: 'the most webhook endpoints of an owner; null = ten in a portal, no limit otherwise',
  }),
);

const origins = (origin: TString) =>
  Type.Array(origin, {
    maxItems: 20,
    description: 'origins of your own pages that may show a portal in a frame; https, or http on localhost',
  });
const origin = { examples: ['https://shop.example.com'] };

/** Messages that banks take SEPA credit transfers in. */
export const SEPA_MESSAGES = ['pain.001.001.09', 'pain.001.001.03'] as const;
const sepaMessage = Type.Enum([...SEPA_MESSAGES], {
  title: 'SepaMessage',
  description: 'the message that your bank takes; default pain.001.001.09',
});
const rowsPerFile = Type.Integer({
  minimum: 2,
  maximum: 100_000,
  description: 'payments in one file; default 10,000. More are split into parts of about the same size',
});
const debtorName = Type.String({
  minLength: 1,
  maxLength: 70,
  description: 'at most 70 characters as banks write it',
});

const isInstant = Type.Boolean({
  description: 'instant transfers (SCT Inst) in every file whose request does not choose; default false',
});

const debtorFields = {
  name: debtorName,
  iban: Type.String({ description: MASKED }),
  bic: nullable(Type.String()),
  message: sepaMessage,
  rows_per_file: rowsPerFile,
};
/** The bank account that SEPA files pay from. */
const debtor = strict(
  { ...debtorFields, is_instant: isInstant },
  { title: 'Debtor', description: 'the account that SEPA transfers are paid from' },
);
const storedDebtor = strict({ ...debtorFields, is_instant: Type.Optional(isInstant) });
/** As it is stored. */
export type Debtor = Static<typeof storedDebtor>;

const debtorInput = strict({
  name: debtorName,
  iban: Type.String({ minLength: 1, maxLength: 60, description: 'any case, with or without blanks' }),
  bic: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 20 }))),
  message: Type.Optional(sepaMessage),
  rows_per_file: Type.Optional(rowsPerFile),
  is_instant: Type.Optional(isInstant),
});
export type DebtorInput = Static<typeof debtorInput>;

/** Whom bank files are from, as the account says; null = it does not. */
export interface Payer {
  readonly debtor: Debtor | null;
  readonly originator: StoredOriginator | null;
}
/** Who the merchant is on invoices and reports. */
const taxProfile = strict(
  {
    legal_name: Type.String(),
    country,
    address,
    vat_id: nullable(Type.String({ description: 'with its country in front', examples: ['DE136695976'] })),
    tax_number: nullable(Type.String({ description: `a national number, such as an EIN; ${MASKED}` })),
    siren: nullable(Type.String({ description: 'SIREN or SIRET of a French business' })),
    electronic_address: nullable(
      Type.String({ description: 'in the Peppol network', examples: ['0208:0123456749'] }),
    ),
  },
  { title: 'AccountTaxProfile', description: 'who you are on invoices and reports' },
);
export type AccountTaxProfile = Static<typeof taxProfile>;

const taxProfileInput = strict({
  legal_name: text(200),
  country: countryInput,
  address: addressInput,
  vat_id: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: 30, description: 'its check digits are checked' })),
  ),
  tax_number: Type.Optional(nullable(text(40))),
  siren: Type.Optional(
    nullable(Type.String({ minLength: 9, maxLength: 30, description: 'its check digit is checked' })),
  ),
  electronic_address: Type.Optional(
    nullable(
      Type.String({ minLength: 4, maxLength: 60, description: 'the code of the scheme, a colon and the id' }),
    ),
  ),
});
export type AccountTaxProfileInput = Static<typeof taxProfileInput>;

/** The account record. */
export const account = strict(
  {
    id: Type.String({ examples: ['acc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('account'),
    name: Type.String(),
    default_currency: currencyCode,
    hold_days: holdDays,
    minimum_payout: minimums,
    time_zone: timeZone,
    paypal_payment_limit: paypalLimit,
    portal_origins: origins(Type.String(origin)),
    event_owner: eventOwner,
    event_validation: eventValidation,
    endpoints_per_owner: endpointsPerOwner,
    approval,
    destination_wait_hours: destinationWait,
    payout_form: payoutForm,
    backup_withholding: backupWithholding,
    commissions_are: commissionsAre,
    payout_signals: payoutSignals,
    state_thresholds: stateThresholds,
    debtor: nullable(debtor),
    originator: nullable(originator),
    tax_profile: nullable(taxProfile),
    invoicing: nullable(invoicing),
    affiliate_notices: nullable(affiliateNotices),
    contact_notices: nullable(contactNotices),
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'Account' },
);
export type Account = Static<typeof account>;

/** Its columns, over `accounts a`. */
export const record = columnsOf(account, {
  id: "public_id('acc', a.id)",
  object: "'account'",
  name: 'a.name',
  default_currency: 'a.default_currency',
  hold_days: 'a.hold_days',
  minimum_payout: 'a.minimum_payout',
  time_zone: 'a.time_zone',
  paypal_payment_limit: 'a.paypal_payment_limit',
  portal_origins: 'a.portal_origins',
  event_owner: 'a.event_owner',
  event_validation: 'a.event_validation',
  endpoints_per_owner: 'a.endpoints_per_owner',
  approval: 'a.approval',
  destination_wait_hours: 'a.destination_wait_hours',
  payout_form: 'a.payout_form',
  backup_withholding: 'a.backup_withholding',
  commissions_are: 'a.commissions_are',
  payout_signals: payoutSignalsColumn,
  state_thresholds: 'a.state_thresholds',
  debtor: `case when a.debtor is not null then '{"is_instant": false}' || a.debtor end`,
  originator: `case when a.originator is not null
    then jsonb_build_object('person_entry_description', a.originator -> 'entry_description') || a.originator end`,
  // older profiles lack these
  tax_profile: `case when a.tax_profile is not null then '{"siren": null, "electronic_address": null}' || a.tax_profile end`,
  invoicing: 'a.invoicing',
  affiliate_notices: 'a.affiliate_notices',
  contact_notices: 'a.contact_notices',
  created_at: 'iso(id_time(a.id))',
  updated_at: 'iso(greatest(a.updated_at, id_time(a.id)))',
});

/** What may be changed of an account. */
export const accountChange = strict({
  name: Type.Optional(text(200)),
  default_currency: Type.Optional(currencyInput),
  hold_days: Type.Optional(holdDays),
  minimum_payout: Type.Optional(minimums),
  time_zone: Type.Optional(Type.String({ ...timeZone, minLength: 1, maxLength: 100 })),
  paypal_payment_limit: Type.Optional(paypalLimit),
  portal_origins: Type.Optional(origins(Type.String({ ...origin, minLength: 1, maxLength: 255 }))),
  event_owner: Type.Optional(eventOwner),
  event_validation: Type.Optional(eventValidation),
  endpoints_per_owner: Type.Optional(endpointsPerOwner),
  approval: Type.Optional(approval),
  destination_wait_hours: Type.Optional(destinationWait),
  payout_form: Type.Optional(payoutForm),
  backup_withholding: Type.Optional(backupWithholding),
  commissions_are: Type.Optional(commissionsAre),
  payout_signals: Type.Optional(payoutSignalsInput),
  state_thresholds: Type.Optional(stateThresholds),
  debtor: Type.Optional(nullable(debtorInput)),
  originator: Type.Optional(nullable(originatorInput)),
  tax_profile: Type.Optional(nullable(taxProfileInput)),
  invoicing: Type.Optional(nullable(invoicingInput)),
  affiliate_notices: Type.Optional(nullable(affiliateNoticesInput)),
  contact_notices: Type.Optional(nullable(contactNoticesInput)),
});
export type AccountChange = Static<typeof accountChange>;
