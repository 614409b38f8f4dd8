import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BankPayment } from '../../src/money/payment-files/bank-rows.ts';
import { type SepaFrame, sepaMessage } from '../../src/money/payment-files/sepa-message.ts';
import { bankText } from '../../src/terms/bank-text.ts';
import { rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import {
  breaches,
  GBIC_5,
  ISO_03,
  ISO_09,
  missingSchemas,
  paymentsIn,
  validatorOf,
} from '../support/sepa.ts';

const MESSAGES = ['pain.001.001.09', 'pain.001.001.03'] as const;
const missing = missingSchemas(ISO_03, ISO_09, GBIC_5);

/** A person's name, which banks can write in at most 70 characters. */
const name = fc
  .string({
    unit: fc.oneof(fc.constantFrom(...'äßøł& éñ\'"<>/漢Ж😀'), fc.string({ minLength: 1, maxLength: 1 })),
    minLength: 1,
    maxLength: 40,
  })
  .filter((text) => bankText(text, 'DE').length >= 1 && bankText(text, 'DE').length <= 70);
const iban = fc.constantFrom(
  'DE89370400440532013000',
  'GB29NWBK60161331926819',
  'FR1420041010050500013M02606',
);
const bic = fc.constantFrom(null, 'COBADEFF', 'NWBKGB2LXXX');
const text = fc.string({ unit: fc.constantFrom(...'aZ09äЩ&<,漢 '), minLength: 1, maxLength: 100 });
const address = fc.option(
  fc.record({
    line1: text,
    line2: fc.option(text),
    postal_code: fc.option(fc.string({ unit: fc.constantFrom(...'A9 -'), minLength: 1, maxLength: 20 })),
    city: text,
    region: fc.constant(null),
    country: fc.constantFrom('GB', 'CH', 'RS'),
  }),
);
const payments = fc.uniqueArray(
  fc.record({
    affiliate_id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    amount: fc.integer({ min: 1, max: 99_999_999_999 }),
    holder: name.map(bankText),
    number: iban,
    bic,
    address,
  }),
  { selector: ({ affiliate_id }) => affiliate_id, minLength: 1, maxLength: 30 },
);
const around = fc.record({
  number: fc.bigInt({ min: 1n, max: 999_999_999n }),
  revision: fc.integer({ min: 1, max: 9_999_999 }),
  part: fc.integer({ min: 1, max: 9999 }),
  debtor: fc.record({
    name,
    iban,
    bic,
    message: fc.constantFrom(...MESSAGES),
    rows_per_file: fc.constant(10_000),
  }),
  isInstant: fc.boolean(),
});

const decimalOf = (cents: bigint) => `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;

/** The message of random payments, and its expected content. */
async function write(
  {
    number,
    revision,
    part,
    debtor,
    isInstant = false,
  }: {
    number: bigint;
    revision: number;
    part: number;
    debtor: SepaFrame['debtor'];
    isInstant?: boolean;
  },
  paid: readonly Pick<BankPayment, 'affiliate_id' | 'amount' | 'holder' | 'number' | 'bic' | 'address'>[],
): Promise<string> {
  const total = paid.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const frame: SepaFrame = {
    head: { number },
    made: {
      revision,
      part,
      code: '7K2MQ9XD',
      madeAt: '2026-11-22T23:00:00.000Z',
      localTime: '2611230000',
      executionDate: '2026-12-01',
      modifier: null,
      firstTrace: null,
    },
    debtor,
    isInstant,
    sums: { count: paid.length, decimal: decimalOf(total) },
  };
  async function* each(): AsyncIterable<BankPayment> {
    const other = {
      routing_number: null,
      account_type: null,
      legal_type: null,
      email: '',
      source_currency: 'eur',
    };
    for (const one of paid) {
      const reference = `P${number}-A${one.affiliate_id}`;
      const decimal = decimalOf(BigInt(one.amount));
      yield { ...one, ...other, reference, decimal };
    }
  }
  let xml = '';
  for await (const piece of sepaMessage(frame, each())) xml += piece;
  return xml;
}

test('whatever is paid to whom, a message follows our rules and contains every payment unchanged', async () => {
  await expectProperty({
    ...{ name: 'a SEPA message', arbitrary: fc.tuple(around, payments), cases: rounds(120, 300) },
    async check([frame, paid]) {
      const xml = await write(frame, paid);
      expect(breaches(xml)).toEqual([]);
      expect(paymentsIn(xml)).toEqual(
        paid.map(({ affiliate_id, amount, holder, number }) => ({
          reference: `P${frame.number}-A${affiliate_id}`,
          amount,
          name: holder,
          iban: number,
        })),
      );
    },
  });
});

test.skipIf(missing !== null)(
  `hundreds of messages are valid by the ISO schemas and by that of German banks${missing === null ? '' : `: ${missing}`}`,
  async () => {
    const [iso09, iso03, gbic] = [ISO_09, ISO_03, GBIC_5].map(validatorOf);
    await expectProperty({
      ...{ name: 'a SEPA message by the schemas', arbitrary: fc.tuple(around, payments), cases: 300 },
      async check([frame, paid]) {
        const xml = await write(frame, paid);
        if (frame.debtor.message === 'pain.001.001.03') return iso03?.(xml);
        iso09?.(xml);
        gbic?.(xml);
      },
    });
  },
);

test.skipIf(missing !== null)(
  'the schema refuses violations, and our rules find those that it allows',
  async () => {
    const paid = [
      { affiliate_id: 7, amount: 1234, holder: 'Ada', number: 'DE89370400440532013000', bic: null },
    ];
    const debtor = { name: 'Shop', iban: 'DE89370400440532013000', bic: null, rows_per_file: 2 };
    const good = await write(
      { number: 1n, revision: 1, part: 1, debtor: { ...debtor, message: MESSAGES[0] } },
      paid,
    );
    const gbic = validatorOf(GBIC_5);
    expect(() => gbic(good)).not.toThrow();
    expect(() => gbic(good.replace('Ccy="EUR"', 'Ccy="USD"'))).toThrow();
    expect(() => gbic(good.replaceAll('<CtrlSum>12.34', '<CtrlSum>12.35'))).not.toThrow();
    expect(breaches(good.replaceAll('<CtrlSum>12.34', '<CtrlSum>12.35'))).toEqual(['the sums']);
    expect(breaches(good.replace('>P1-A7<', '>P1//A7<'))).toEqual(['ids and slashes']);
    expect(breaches(good.replace('>Ada<', '>Adä<'))).toEqual(['characters']);
  },
);
