import { methodNames } from './methods.ts';

const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  payout_method: methodNames,
  destination_type: methodNames,
  type: methodNames,
  is_ready_for_payout: { true: 'Yes', false: 'No' },
};

/** A word of the API for people: `inactive` of a status is Inactive. */
export const wordLabel = (field: string, word: string): string =>
  words[field]?.[word] ?? word.charAt(0).toUpperCase() + word.slice(1).replaceAll('_', ' ');

export const forms = {
  notSet: 'Not set',
  inCurrency: (label: string, currency: string) => `${label}, ${currency.toUpperCase()}`,
  amount: (currency: string) => `Enter an amount in ${currency.toUpperCase()}, such as 25.00.`,
  metadataHint: 'One key=text per line.',
  metadata: 'Write each line as key=text, each key once.',
};
