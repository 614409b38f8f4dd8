import { methodNames } from './methods.ts';
import { tax } from './tax.ts';

const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  payout_method: methodNames,
  destination_type: methodNames,
  type: methodNames,
  'tax_id.type': tax.taxIdTypes,
  'form.type': tax.forms,
  language: { en: 'English', de: 'German', fr: 'French', es: 'Spanish' },
  payload: {
    full: 'Full: the whole event',
    thin: 'Thin: without its data',
    cloudevents: 'CloudEvents 1.0',
  },
};

const flags: Readonly<Record<string, string>> = { true: 'Yes', false: 'No' };

/** A word of the API for people: `inactive` of a status is Inactive. */
export const wordLabel = (field: string, word: string): string =>
  words[field]?.[word] ?? flags[word] ?? word.charAt(0).toUpperCase() + word.slice(1).replaceAll('_', ' ');

export const forms = {
  notSet: 'Not set',
  inCurrency: (label: string, currency: string) => `${label}, ${currency.toUpperCase()}`,
  integer: (from: number, to: number) =>
    `Enter a whole number from ${from.toLocaleString('en')} to ${to.toLocaleString('en')}.`,
  amount: (currency: string) => `Enter an amount in ${currency.toUpperCase()}, such as 25.00.`,
  metadataHint: 'One key=text per line.',
  metadata: 'Write each line as key=text, each key once.',
};
