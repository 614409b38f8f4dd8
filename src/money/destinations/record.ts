import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { currencyCode, currencyInput, nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { ACCOUNT_TYPES } from '../../terms/payments.ts';
import { destinationTypes } from '../ledger/destinations.ts';

const type = {
  ...destinationTypes,
  description:
    'paypal: to `paypal_email`; wise: to `email`; sepa and ach: to a bank account; other: in a way of your own',
};
const accountType = Type.Enum([...ACCOUNT_TYPES], { title: 'BankAccountType' });

/** Where an affiliate is paid. The number of a bank account is shown by its last four characters only. */
export const destination = strict(
  {
    object: Type.Literal('affiliate_destination'),
    affiliate_id: Type.Integer(),
    currency: nullable({
      ...currencyCode,
      description: 'what it is for; null: every currency without a destination of its own',
    }),
    type,
    account_holder: nullable(Type.String({ description: 'sepa, ach: as you sent it' })),
    holder_in_files: nullable(
      Type.String({ description: 'sepa, ach: the holder in the characters of payment files' }),
    ),
    last_four: nullable(Type.String({ description: 'sepa, ach: the end of the IBAN or account number' })),
    country: nullable(Type.String({ description: 'sepa: of the IBAN, ISO 3166-1 alpha-2' })),
    bic: nullable(Type.String()),
    routing_number: nullable(Type.String()),
    account_type: nullable(accountType),
    is_lost: Type.Boolean({
      description: 'the number was lost with the secret key: set the destination again',
    }),
    waits_until: nullable({
      ...timestamp,
      description: 'not paid before: see `destination_wait_hours` of the account; null: paid',
    }),
    shared_with: Type.Array(Type.Integer(), {
      description: 'other affiliates with the same IBAN or account, the first 20 ids',
    }),
    created_at: timestamp,
  },
  { title: 'AffiliateDestination' },
);
export type Destination = Static<typeof destination>;

/** The columns of the record, over `affiliate_destinations x`. */
export const record = columnsOf(destination, {
  object: "'affiliate_destination'",
  affiliate_id: 'x.affiliate_id',
  currency: 'x.currency',
  type: 'x.type',
  account_holder: 'x.account_holder',
  holder_in_files: 'x.holder_in_files',
  last_four: 'x.last_four',
  country: 'x.country',
  bic: 'x.bic',
  routing_number: 'x.routing_number',
  account_type: 'x.account_type',
  is_lost: 'x.last_four is not null and x.number is null',
  waits_until: `(
    select case when w.until > now() then iso(w.until) end from (
      select greatest(x.created_at, x.restored_at) + make_interval(hours => o.destination_wait_hours) as until
      from accounts o where o.id = x.account_id and o.destination_wait_hours > 0) w)`,
  shared_with: `(
    select coalesce(json_agg(y.affiliate_id order by y.affiliate_id), '[]') from (
      select distinct affiliate_id from affiliate_destinations
      where account_id = x.account_id and number_mark = x.number_mark and replaced_at is null
        and affiliate_id <> x.affiliate_id
      order by affiliate_id limit 20) y)`,
  created_at: 'iso(x.created_at)',
});

/** All destinations of an affiliate. */
export const destinations = strict(
  {
    object: Type.Literal('affiliate_destinations'),
    affiliate_id: Type.Integer(),
    destinations: Type.Array(destination, {
      description:
        'the one for all currencies first; empty: paid as `payout_method` and `paypal_email` of the affiliate say',
    }),
  },
  { title: 'AffiliateDestinations' },
);
export type Destinations = Static<typeof destinations>;

/** The input of a destination. Which fields go with which type, the service says. */
export const newDestination = strict({
  type,
  currency: Type.Optional(
    nullable({ ...currencyInput, description: 'ISO 4217, any case; absent or null: for all currencies' }),
  ),
  account_holder: Type.Optional(text(140)),
  iban: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, description: 'any case, with or without blanks' }),
  ),
  bic: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
  routing_number: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
  account_number: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
  account_type: Type.Optional(accountType),
});
export type NewDestination = Static<typeof newDestination>;

/** Which of an affiliate's destinations. */
export const ofCurrency = strict({
  currency: Type.Optional({
    ...currencyInput,
    description: 'ISO 4217, any case; absent: the one for all currencies',
  }),
});
