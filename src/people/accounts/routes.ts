import { Type } from 'typebox';
import { ok, readRoute, writeRoute } from '../../contract/route.ts';
import {
  amounts,
  currencyCode,
  currencyInput,
  minimums,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { changeAccount, getAccount } from './service.ts';

const holdDays = Type.Integer({ minimum: 0, maximum: 3650, description: 'days a new commission is on hold' });
const timeZone = Type.String({
  description: 'IANA name: the time zone of days without a time, in filters, files and reports',
  examples: ['Europe/Berlin'],
});
const paypalLimit = amounts('minor units per currency code: the largest single payment PayPal sends');

const account = strict(
  {
    id: Type.String({ examples: ['acc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('account'),
    name: Type.String(),
    default_currency: currencyCode,
    hold_days: holdDays,
    minimum_payout: minimums,
    time_zone: timeZone,
    paypal_payment_limit: paypalLimit,
    created_at: timestamp,
    updated_at: timestamp,
  },
  { title: 'Account' },
);

export const get = readRoute({
  operation: 'getAccount',
  path: '/v2/account',
  access: 'account',
  summary: 'Get the account and its settings',
  returns: { 200: account },
  handle: async (input) => ok(await getAccount(input.db, input.account)),
});

export const change = writeRoute({
  operation: 'changeAccount',
  method: 'PATCH',
  path: '/v2/account',
  access: 'account',
  summary: 'Change settings of the account',
  description:
    'A new hold applies to new commissions only; minimums apply from the next payout on. A new time zone changes what ' +
    'days mean from now on, and changes no stored instant.',
  body: strict({
    name: Type.Optional(text(200)),
    default_currency: Type.Optional(currencyInput),
    hold_days: Type.Optional(holdDays),
    minimum_payout: Type.Optional(minimums),
    time_zone: Type.Optional(Type.String({ ...timeZone, minLength: 1, maxLength: 100 })),
    paypal_payment_limit: Type.Optional(paypalLimit),
  }),
  returns: { 200: account },
  handle: async (input) => ok(await changeAccount(input.tx, input.account, input.body)),
});
