import { Type } from 'typebox';
import { type Fields, type ImportRule, type WritableField, words } from '../../contract/fields.ts';
import { currencyCode, currencyInput, nullable, text, timestamp } from '../../contract/schemas.ts';
import { ACCOUNT_TYPES } from '../../terms/payments.ts';
import { destinationTypes } from '../ledger/destinations.ts';
import { payeeVerification, verificationColumn } from '../ledger/verifications.ts';

export interface DestinationField extends WritableField {
  readonly import: ImportRule | null;
}

const type = {
  ...destinationTypes,
  description:
    'paypal: to `paypal_email`; wise: to `email`; wise_bank: by Wise to an IBAN; sepa and ach: to a bank account; other: your own method',
};
const accountType = Type.Enum([...ACCOUNT_TYPES], { title: 'BankAccountType' });
const limited = (maxLength: number) => Type.String({ minLength: 1, maxLength });

/** The fields of a destination, over `affiliate_destinations x`: the only list of them. */
export const DESTINATION_FIELDS = {
  object: { schema: Type.Literal('affiliate_destination'), column: "'affiliate_destination'" },
  affiliate_id: { schema: Type.Integer() },
  type: {
    schema: type,
    input: type,
    type: 'word',
    isRequired: true,
    label: 'Destination type',
    example: 'sepa',
    option: '--type <type>',
    import: {
      column: 'destination_type',
      synonyms: words('destinationtype payouttype'),
      words: {
        paypal: ['paypal'],
        wise: words('wise transferwise'),
        wise_bank: words('wisebank wiseiban wisebankaccount'),
        sepa: words('sepa sepatransfer sepacredittransfer iban'),
        ach: words('ach achtransfer achcredit directdeposit'),
        other: words('other manual check cheque storecredit'),
      },
    },
  },
  currency: {
    schema: nullable(currencyCode),
    input: nullable(currencyInput),
    type: 'currency',
    label: 'Currency',
    help: 'only for this currency; without it, for every currency without its own destination',
    example: 'eur',
    option: '--currency <currency>',
    import: null,
  },
  account_holder: {
    schema: nullable(Type.String()),
    input: text(140),
    type: 'text',
    neededBy: ['wise_bank', 'sepa', 'ach'],
    label: 'Account holder',
    help: 'wise_bank, sepa, ach: the name of the account holder',
    example: 'Ada Lovelace',
    option: '--account-holder <name>',
    import: {
      goesWith: ['iban', 'routing_number'],
      synonyms: words(
        `accountholder accountholdername bankaccountholder nameonaccount accountname beneficiary beneficiaryname
         kontoinhaber titulaire titulaireducompte`,
      ),
    },
  },
  holder_in_files: {
    schema: nullable(
      Type.String({ description: 'wise_bank, sepa, ach: the holder in the characters of payment files' }),
    ),
  },
  iban: {
    input: limited(60),
    type: 'text',
    neededBy: ['wise_bank', 'sepa'],
    label: 'IBAN',
    help: 'wise_bank, sepa: the IBAN, with or without blanks',
    example: 'DE89370400440532013000',
    option: '--iban <iban>',
    import: { synonyms: words('iban ibannumber ibannummer ibannr ibancode bankiban') },
  },
  bic: {
    schema: nullable(Type.String()),
    input: limited(20),
    type: 'text',
    acceptedBy: ['sepa'],
    label: 'BIC',
    help: 'sepa: the BIC, which few banks still ask for',
    example: 'COBADEFFXXX',
    option: '--bic <bic>',
    import: { goesWith: ['iban'], synonyms: words('bic biccode swift swiftcode bicswift swiftbic') },
  },
  routing_number: {
    schema: nullable(Type.String()),
    input: limited(20),
    type: 'text',
    neededBy: ['ach'],
    label: 'Routing number',
    help: 'ach: nine digits',
    example: '021000021',
    option: '--routing-number <number>',
    import: {
      synonyms: words(
        'routingnumber routing bankrouting bankroutingnumber routingtransitnumber achrouting aba abanumber',
      ),
    },
  },
  account_number: {
    input: limited(40),
    type: 'text',
    neededBy: ['ach'],
    label: 'Account number',
    help: 'ach: the number of the account',
    example: '12345678',
    option: '--account-number <number>',
    import: {
      goesWith: ['routing_number'],
      synonyms: words('accountnumber bankaccountnumber bankaccount accountno'),
    },
  },
  account_type: {
    schema: nullable(accountType),
    input: accountType,
    type: 'word',
    neededBy: ['ach'],
    label: 'Account type',
    help: 'ach: the type of the account',
    example: 'savings',
    option: '--account-type <type>',
    import: {
      goesWith: ['routing_number'],
      synonyms: words('accounttype bankaccounttype'),
      words: {
        checking: words('checking chequing current checkingaccount currentaccount'),
        savings: words('savings saving savingsaccount'),
      },
    },
  },
  last_four: {
    schema: nullable(
      Type.String({ description: 'wise_bank, sepa, ach: the end of the IBAN or account number' }),
    ),
  },
  country: {
    schema: nullable(Type.String({ description: 'wise_bank, sepa: of the IBAN, ISO 3166-1 alpha-2' })),
  },
  is_lost: {
    schema: Type.Boolean({
      description: 'the number was lost with the secret key: set the destination again',
    }),
    column: 'x.last_four is not null and x.number is null',
  },
  waits_until: {
    schema: nullable({
      ...timestamp,
      description: 'not paid before: see `destination_wait_hours` of the account; null: paid',
    }),
    column: `(
    select case when w.until > now() then iso(w.until) end from (
      select greatest(x.created_at, x.restored_at) + make_interval(hours => o.destination_wait_hours) as until
      from accounts o where o.id = x.account_id and o.destination_wait_hours > 0) w)`,
  },
  shared_with: {
    schema: Type.Array(Type.Integer(), {
      description: 'other affiliates with the same IBAN or account, the first 20 ids',
    }),
    column: `(
    select coalesce(json_agg(y.affiliate_id order by y.affiliate_id), '[]') from (
      select distinct affiliate_id from affiliate_destinations
      where account_id = x.account_id and number_mark = x.number_mark and replaced_at is null
        and affiliate_id <> x.affiliate_id
      order by affiliate_id limit 20) y)`,
  },
  verification: {
    schema: nullable(payeeVerification),
    column: verificationColumn,
  },
  created_at: { schema: timestamp, column: 'iso(x.created_at)' },
} as const satisfies Fields<DestinationField>;
