import { PAYMENT_FILES, type PaymentFormatName } from '../../src/terms/payments.ts';

const FORMATS = Object.entries(PAYMENT_FILES);
const of = (part: 'label' | 'step') =>
  Object.fromEntries(FORMATS.map(([name, format]) => [name, format[part]])) as Record<
    PaymentFormatName,
    string
  >;

/** The name of each payout method, type of destination and format of payment files. */
export const methodNames = { ...of('label'), ach: 'ACH', other: 'Other' };

/** How the money of a payout is sent, by method. */
export const methodSteps = {
  ...of('step'),
  other: 'Pay these affiliates by bank transfer or however you agreed with them.',
};
