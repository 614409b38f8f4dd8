import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BankPayment } from '../../src/money/payment-files/bank-rows.ts';
import { type NachaFrame, nachaFile } from '../../src/money/payment-files/nacha-file.ts';
import { readRoutingNumber } from '../../src/terms/bank-accounts.ts';
import { bankText } from '../../src/terms/bank-text.ts';
import {
  firstBankingDay,
  isBankingDay,
  nextBankingDay,
  whyNoBankingDay,
} from '../../src/terms/us-banking-days.ts';
import { rounds } from '../support/depth.ts';
import { breaches, closedDays, missingReader, paymentsIn, readByAnother } from '../support/nacha.ts';
import { expectProperty } from '../support/properties.ts';

/** Nine digits with a valid check digit. */
const routing = fc.integer({ min: 1_000_000, max: 12_999_999 }).map((bank) => {
  const eight = String(bank).padStart(8, '0');
  const right = Array.from({ length: 10 }, (_, digit) => `${eight}${digit}`).find(
    (number) => 'value' in readRoutingNumber(number),
  );
  return right ?? '';
});
const ascii = (most: number) =>
  fc
    .string({ unit: fc.constantFrom(...'ABCXYZabcxyz0189 &.-/'), minLength: 1, maxLength: most })
    .map((text) => text.trim())
    .filter((text) => /[A-Za-z0-9]/.test(text));
const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const holder = fc
  .string({ unit: fc.constantFrom(..."ABCabcäßøł& '-漢"), minLength: 1, maxLength: 12 })
  .map(bankText)
  .filter((text) => text.length >= 1 && text.length <= 22);

const payment = fc.record({
  affiliate_id: fc.integer({ min: 1, max: 99_999_999 }),
  amount: fc.integer({ min: 1, max: 9_999_999_999 }),
  holder,
  number: fc.string({ unit: fc.constantFrom(...'0123456789AZ-'), minLength: 4, maxLength: 17 }),
  routing_number: routing,
  account_type: fc.constantFrom('checking', 'savings'),
  legal_type: fc.constantFrom(null, 'person', 'business'),
});
const payments = fc.uniqueArray(payment, {
  selector: ({ affiliate_id }) => affiliate_id,
  minLength: 1,
  maxLength: 40,
});
const frames = fc.record({
  originator: fc.record({
    immediate_destination: routing,
    immediate_destination_name: ascii(23),
    immediate_origin: fc.oneof(digits(9), digits(10)).filter((text) => Number(text) > 0),
    immediate_origin_name: ascii(23),
    company_name: ascii(16),
    company_id: digits(10),
    originating_dfi: routing.map((number) => number.slice(0, 8)),
    entry_description: fc.constantFrom('PAYOUT', 'Commission'),
    discretionary_data: fc.option(ascii(20)),
    rows_per_file: fc.constant(10_000),
  }),
  made: fc.record({
    revision: fc.constant(1),
    code: fc.constant('7K2MQ9XD'),
    part: fc.constant(1),
    madeAt: fc.constant('2026-11-23T14:05:00.000Z'),
    localTime: fc.constant('2611231405'),
    executionDate: fc.constant('2026-11-24'),
    modifier: fc.integer({ min: 1, max: 36 }),
    firstTrace: fc.integer({ min: 1, max: 9_000_000 }),
  }),
});

type Paid = Omit<BankPayment, 'reference' | 'decimal' | 'bic' | 'email' | 'source_currency'>;

/** Persons first, as a file is created. */
const inOrder = (paid: readonly Paid[]): BankPayment[] =>
  paid
    .map((one) => ({
      ...one,
      reference: `P12-A${one.affiliate_id}`,
      decimal: '',
      bic: null,
      email: '',
      source_currency: 'usd',
    }))
    .toSorted((a, b) => Number(a.legal_type === 'business') - Number(b.legal_type === 'business'));

async function write(frame: NachaFrame, paid: readonly Paid[]): Promise<string> {
  async function* each() {
    yield* inOrder(paid);
  }
  let file = '';
  for await (const piece of nachaFile(frame, each())) file += piece;
  return file;
}

/** What a reader should find. */
const expected = (frame: NachaFrame, paid: readonly Paid[]) =>
  inOrder(paid).map((one, place) => ({
    class: one.legal_type === 'business' ? 'CCD' : 'PPD',
    reference: one.reference,
    amount: one.amount,
    name: one.holder,
    routing: one.routing_number,
    number: one.number,
    code: one.account_type === 'savings' ? 32 : 22,
    trace: frame.originator.originating_dfi + String((frame.made.firstTrace ?? 0) + place).padStart(7, '0'),
  }));

const sumOf = (paid: readonly Paid[]) => paid.reduce((sum, { amount }) => sum + amount, 0);

test('whatever is paid to whom, a file follows the rules of its format and contains every payment unchanged', async () => {
  await expectProperty({
    ...{ name: 'a NACHA file', arbitrary: fc.tuple(frames, payments), cases: rounds(80, 200) },
    async check([frame, paid]) {
      const file = await write(frame, paid);
      expect(breaches(file)).toEqual([]);
      expect(paymentsIn(file)).toEqual(expected(frame, paid));
    },
  });
});

test('our rules find a changed sum, a line too short, and a block that is not full', async () => {
  const [one] = fc.sample(fc.tuple(frames, payments), { numRuns: 1, seed: 7 });
  const file = await write(...(one as [NachaFrame, Paid[]]));
  expect(breaches(file)).toEqual([]);
  expect(breaches(file.replace(/^(6.{28})\d{10}/m, '$19999999998'))).toContain(
    'the count and sums of the file',
  );
  expect(breaches(file.replace(/ \r\n/, '\r\n'))).toContain('lines of 94 characters that end with CR and LF');
  expect(breaches(`${file}${'9'.repeat(94)}\r\n`)).toContain('blocks of ten');
});

/** A file in which the amount of an entry, picked by `place`, is a cent more or less. */
function withOneCentChanged(file: string, place: number): string {
  const entries = [...file.matchAll(/^6.{28}(\d{10})/gm)];
  const entry = entries[place % entries.length];
  if (entry?.index === undefined) throw new Error('the file has no entry');
  const cents = Number(entry[1]);
  const other = String(cents === 9_999_999_999 ? cents - 1 : cents + 1).padStart(10, '0');
  return file.slice(0, entry.index + 29) + other + file.slice(entry.index + 39);
}

test.skipIf(missingReader !== null)(
  `moov-io/ach reads hundreds of files with the same payments and sums, and refuses each with one cent changed${
    missingReader === null ? '' : `: ${missingReader}`
  }`,
  async () => {
    const made = fc.sample(fc.tuple(frames, payments), { seed: 11, numRuns: 400 });
    const files = await Promise.all(made.map(([frame, paid]) => write(frame, paid)));
    for (const [place, reading] of readByAnother(files).entries()) {
      const [frame, paid] = made[place] as [NachaFrame, Paid[]];
      expect(reading, files[place]).toEqual({
        credit: sumOf(paid),
        debit: 0,
        effective: '261124',
        payments: expected(frame, paid),
      });
    }
    for (const reading of readByAnother(files.map(withOneCentChanged))) {
      expect(reading.error).toMatch(/TotalCreditEntryDollarAmount/);
    }
  },
);

test.skipIf(missingReader !== null)(
  `the Federal Reserve is closed on the days of moov-io/base${missingReader === null ? '' : `: ${missingReader}`}`,
  () => {
    const found: string[] = [];
    for (let at = Date.UTC(2022, 0, 1); at <= Date.UTC(2060, 11, 31); at += 86_400_000) {
      const date = new Date(at);
      const day = date.toISOString().slice(0, 10);
      if (date.getUTCDay() % 6 !== 0 && !isBankingDay(day)) found.push(day);
    }
    expect(found.length).toBeGreaterThan(390);
    expect(found).toEqual(closedDays('2022-01-01', '2060-12-31'));
  },
);

test('the next banking day is after weekends and holidays, also those that fall on a Sunday', () => {
  expect(nextBankingDay('2026-11-23')).toBe('2026-11-24');
  expect(nextBankingDay('2026-11-25')).toBe('2026-11-27');
  expect(nextBankingDay('2026-12-24')).toBe('2026-12-28');
  expect(nextBankingDay('2027-07-02')).toBe('2027-07-06');
  expect(nextBankingDay('2026-07-02')).toBe('2026-07-03');
});

test('a day is accepted until its last window has closed in New York, in winter and in summer', () => {
  const at = (time: string) => Date.parse(time);
  // Monday 2026-11-30, in winter: New York is five hours behind UTC
  expect(whyNoBankingDay('2026-11-30', at('2026-11-30T21:44:59Z'))).toBeNull();
  expect(whyNoBankingDay('2026-11-30', at('2026-11-30T21:45:00Z'))).toMatch(
    /4:45 p\.m\..*the next banking day is 2026-12-01/,
  );
  // Wednesday 2026-07-01, in summer: four hours
  expect(whyNoBankingDay('2026-07-01', at('2026-07-01T20:44:00Z'))).toBeNull();
  expect(whyNoBankingDay('2026-07-01', at('2026-07-01T20:45:00Z'))).toMatch(/2026-07-02/);
  expect(whyNoBankingDay('2026-12-01', at('2026-11-30T23:00:00Z'))).toBeNull();
  // it is Tuesday in UTC, and still Monday in New York
  expect(whyNoBankingDay('2026-11-30', at('2026-12-01T02:00:00Z'))).toMatch(/closed/);
  expect(firstBankingDay(at('2026-12-01T02:00:00Z'))).toBe('2026-12-01');
  expect(whyNoBankingDay('2026-11-29', at('2026-11-30T12:00:00Z'))).toMatch(/today \(2026-11-30/);
});
