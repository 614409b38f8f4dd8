import { type Static, Type } from 'typebox';
import { currencyInput, strict, text } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { currencyDigits, multiplyRounded, normalizeCurrency } from '../../kernel/money.ts';
import { nameFrom } from '../../kernel/names.ts';
import { parseDay } from '../../kernel/time.ts';

const rateInput = strict(
  {
    currency: { ...currencyInput, description: 'the currency of the invoices', examples: ['usd'] },
    national_currency: {
      ...currencyInput,
      description: 'that of the country of the supplier',
      examples: ['eur'],
    },
    rate: Type.String({
      maxLength: 20,
      description: 'what one unit of `currency` is worth in `national_currency`: a decimal above 0',
      examples: ['0.8675'],
    }),
    quoted_on: Type.String({
      minLength: 10,
      maxLength: 10,
      description: 'the day of the rate, YYYY-MM-DD, within 31 days of the payment',
      examples: ['2026-11-26'],
    }),
    source: { ...text(60), description: 'who published it, as the invoice says it', examples: ['ECB'] },
  },
  { title: 'InvoiceRateInput' },
);
/** The body of issuing. */
export const issueInput = strict({
  rates: Type.Optional(
    Type.Array(rateInput, {
      maxItems: 50,
      description: 'exchange rates, for invoices whose VAT must be stated in the currency of a country',
    }),
  ),
});
export type RateInput = Static<typeof rateInput>;

/** VAT in the currency of the supplier's country (EN 16931, BT-6 and BT-111), as documents store it. */
export interface NationalTax {
  readonly currency: string;
  /** Minor units, as text. */
  readonly amount: string;
  /** A decimal: the value of one unit of the invoice's currency. */
  readonly rate: string;
  readonly quoted_on: string;
  readonly source: string;
}

/** The rates of a request by their two currencies. */
export type Rates = ReadonlyMap<string, Omit<NationalTax, 'amount'>>;

const keyOf = (currency: string, national: string) => `${currency}/${national}`;
const DECIMAL = /^\d{1,9}(\.\d{1,9})?$/;
const DAY_MS = 86_400_000;
/** How many days before and after the payment a rate can be quoted: monthly averages are published after the month. */
const MOST_DAYS = 31;

/**
 * The rates of a request. `paidOn` and `today` are days of the account. Throws `invalid_body` with the field and its rule.
 */
export function ratesFrom(
  input: readonly RateInput[],
  { paidOn, today }: { readonly paidOn: string; readonly today: string },
): Rates {
  const rates = new Map<string, Omit<NationalTax, 'amount'>>();
  for (const [index, { rate, quoted_on, source, ...pair }] of input.entries()) {
    const at = (name: string) => `rates[${index}].${name}`;
    const refuse = (name: string, rule: string) => fail('invalid_body', `${at(name)} ${rule}`);
    const [currency, national] = (['currency', 'national_currency'] as const).map((name) => {
      const code = normalizeCurrency(pair[name]);
      if (code === null) throw refuse(name, 'must be an ISO 4217 currency');
      return code;
    }) as [string, string];
    if (currency === national) throw refuse('national_currency', 'must differ from `currency`');
    if (!DECIMAL.test(rate) || Number(rate) === 0)
      throw refuse('rate', 'must be a decimal above 0 with at most nine digits before and after the point');
    const day = parseDay(quoted_on);
    if (day === null) throw refuse('quoted_on', 'must be a day YYYY-MM-DD');
    if (quoted_on > today) throw refuse('quoted_on', 'must not be in the future');
    if (Math.abs(day - (parseDay(paidOn) ?? day)) > MOST_DAYS * DAY_MS)
      throw refuse('quoted_on', `must be within ${MOST_DAYS} days of the payment of ${paidOn}`);
    const key = keyOf(currency, national);
    if (rates.has(key)) throw refuse('currency', `has two rates for ${key}`);
    rates.set(key, {
      currency: national,
      rate,
      quoted_on,
      source: nameFrom(source.normalize('NFC'), at('source')),
    });
  }
  return rates;
}

/** The rate for an invoice, or undefined. */
export const rateOf = (rates: Rates, currency: string, national: string) =>
  rates.get(keyOf(currency, national));

/**
 * The tax of an invoice, in minor units of its currency, in the national currency at a rate, rounded half up.
 */
export function nationalTaxOf(tax: bigint, currency: string, rate: Omit<NationalTax, 'amount'>): NationalTax {
  const [whole = '', fraction = ''] = rate.rate.split('.');
  const factor = BigInt(whole + fraction) * 10n ** BigInt(currencyDigits(rate.currency));
  const divisor = 10n ** BigInt(fraction.length + currencyDigits(currency));
  return { ...rate, amount: String(multiplyRounded(tax, factor, divisor)) };
}
