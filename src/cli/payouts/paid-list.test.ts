import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rounds } from '../../../test/support/depth.ts';
import { expectProperty } from '../../../test/support/properties.ts';
import { CommandError } from '../command/errors.ts';
import { checkComplete, mergeLists, ofLines, readPaidFile } from './paid-list.ts';
import { paymentFormat, readPaymentFile } from './paid-list-file.ts';
import { readNamed } from './paid-options.ts';

const read = (text: string) => readPaidFile(Buffer.from(text));
const HEADER = 'affiliate_id,is_paid\n';
const LONG = 'affiliate_id,is_paid,payment_reference\n';

test('a spreadsheet file with byte order mark, CRLF, quotes and blank lines is read', () => {
  expect(
    read('\uFEFFAffiliate_ID,is_paid,payment_reference\r\n"1", TRUE ,"a ""b"", c"\r\n\r\n2,false,\r\n'),
  ).toEqual([
    { affiliate_id: 1, is_paid: true, payment_reference: 'a "b", c', where: 'line 2, column affiliate_id' },
    { affiliate_id: 2, is_paid: false, where: 'line 4, column affiliate_id' },
  ]);
});

test('columns may be in any order, and empty columns of a spreadsheet are ignored', () => {
  expect(read('payment_reference,is_paid,affiliate_id,,\nX-1,true,7,,\n,,,,\n,false,8\n')).toEqual([
    { affiliate_id: 7, is_paid: true, payment_reference: 'X-1', where: 'line 2, column affiliate_id' },
    { affiliate_id: 8, is_paid: false, where: 'line 4, column affiliate_id' },
  ]);
});

test.each([`${HEADER}1,true\n2,false`, 'payment_reference,affiliate_id,is_paid\nx,1,true\ny,2,"FALSE"'])(
  '%j may end without a line end: a true or false that was cut off is neither',
  (text) => {
    expect(read(text)).toHaveLength(2);
  },
);

const columns = 'the columns are affiliate_id, currency, is_paid, amount, payment_reference';
test.each([
  ['', 'the file is empty: its first line must name the columns'],
  ['1,true\n', `line 1: must name the columns, and "1,true" does not; ${columns}`],
  ['affiliate_id;is_paid\n1;true\n', 'line 1: the file has semicolons between the cells'],
  ['affiliate_id\tis_paid\n1\ttrue\n', 'line 1: the file has tabs between the cells'],
  ['affiliate_id,paid\n1,true\n', 'line 1, column 2: there is no column "paid": is it is_paid?'],
  ['affiliate,is_paid\n1,true\n', 'line 1, column 1: there is no column "affiliate": is it affiliate_id?'],
  ['affiliate_id,is_paid,x\n', `line 1, column 3: there is no column "x"; ${columns}`],
  ['affiliate_id\n1\n', 'line 1: column is_paid is missing'],
  ['affiliate_id,is_paid,is_paid\n1,true,false\n', 'line 1, column 3: is_paid is column 2 already'],
  ['affiliate_id,,is_paid\n1,,true\n', 'line 1, column 2: has no name'],
  [
    'affiliate_id,is_paid',
    'line 1, column is_paid: the file ends here without a line end, so it may be cut off',
  ],
  [`${HEADER}1,true\n2,tr`, 'line 3, column is_paid: must be true or false, not "tr"'],
  [`${HEADER}1,true\n2`, 'line 3, column is_paid: the file ends before it: the file may be cut off'],
  [
    `${HEADER}1,true\n2,`,
    'line 3, column is_paid: the file ends here without a line end, so it may be cut off',
  ],
  [`${HEADER}1,true\n2\n`, 'line 3, column is_paid: is missing: the line ends before it'],
  [`${HEADER}1,true,x\n`, 'line 2, column 3: the header has no such column'],
  [
    `${HEADER}1,"true\n2,true\n`,
    'line 2, column is_paid, character 3: the quote that opens here is never closed',
  ],
  [`${LONG}1,true\n`, 'line 2, column payment_reference: is missing'],
  [`${LONG}1,true,RE`, 'line 2, column payment_reference: the file ends here without a line end'],
  [`${LONG}1,true,`, 'line 2, column payment_reference: the file ends here without a line end'],
  [
    `${LONG}1,true,${'x'.repeat(256)}\n`,
    'line 2, column payment_reference: has more than 255 characters: "xxx',
  ],
  [`${LONG}1,true,'-5\n`, 'line 2, column payment_reference: begins with an apostrophe before "-"'],
  [`${LONG}1,true,x\uFEFFy\n`, 'line 2, column payment_reference, character 9: a byte order mark (U+FEFF)'],
  [`${LONG}1,true,x\0y\n`, 'line 2, column payment_reference, character 9: a NUL character'],
])('%j is refused, naming the place', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test.each([
  '',
  '0',
  '-1',
  '1.0',
  '1.5',
  '1e3',
  '007',
  '+7',
  '７',
  '" 7"',
  '0x7',
  '1 000',
  '9'.repeat(16),
  'aff_1',
])('the id %s is refused, naming line, column and value', (id) => {
  const value = JSON.stringify(id.replaceAll('"', ''));
  const message = `line 2, column affiliate_id: must be a positive integer such as 17, not ${value}`;
  expect(() => read(`${HEADER}${id},true\n`)).toThrow(message);
});

test.each(['', '1', 'yes', 'y', 'x', 'WAHR', 'T', 'true.', '" true"'])(
  'is_paid is true or false in any case, and not %s',
  (paid) => {
    const value = JSON.stringify(paid.replaceAll('"', ''));
    const message = `line 2, column is_paid: must be true or false, not ${value}`;
    expect(() => read(`${HEADER}1,${paid}\n`)).toThrow(message);
  },
);

test('an affiliate twice is named with both lines', () => {
  expect(() => read(`${HEADER}1,true\n\n2,true\n 1 ,false\n`)).toThrow(
    'line 5, column affiliate_id: affiliate 1 is already in line 2',
  );
});

test('other encodings and files that are no CSV are refused', () => {
  const latin1 = Buffer.from(`${LONG}1,true,Zoë\n`, 'latin1');
  expect(() => readPaidFile(latin1)).toThrow(
    'line 2, column payment_reference, character 10: the byte EB is not UTF-8: save the file as "CSV UTF-8',
  );
  expect(() => readPaidFile(Buffer.from(HEADER, 'utf16le'))).toThrow('the file is UTF-16');
  expect(() => readPaidFile(Buffer.from('PK\x03\x04\x14\0'))).toThrow('the file is an Excel workbook');
});

test('cut off at any byte, a file is refused, or says what the whole file says', () => {
  const reference = fc.constantFrom('', 'X-1', '"a ""b"", c"', '"two\r\nlines"', 'Zoë 🎉');
  const entry = fc.tuple(fc.constantFrom('true', 'FALSE', '"true"'), reference);
  return expectProperty({
    ...{ name: 'a file of what was paid that is cut off', cases: rounds(30, 100) },
    arbitrary: fc.tuple(
      fc.array(entry, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(
        'affiliate_id,is_paid',
        'affiliate_id,is_paid,payment_reference',
        'payment_reference,affiliate_id,is_paid',
      ),
      fc.constantFrom('\n', '\r\n', '\r'),
    ),
    check([entries, header, end]) {
      const lines = entries.map(([is_paid, payment_reference], index) => {
        const cells: Record<string, string> = { affiliate_id: `${index + 9}`, is_paid, payment_reference };
        return header
          .split(',')
          .map((column) => cells[column])
          .join();
      });
      const bytes = Buffer.from([header, ...lines, ''].join(end));
      const whole = readPaidFile(bytes);
      const inPayout = whole.map(({ affiliate_id }) => ({ affiliate_id, currency: 'usd' }));
      for (let length = 0; length < bytes.length; length += 1) {
        try {
          const found = readPaidFile(bytes.subarray(0, length));
          checkComplete(ofLines(found, inPayout), inPayout);
          expect(found).toEqual(whole);
        } catch (error) {
          if (!(error instanceof CommandError)) throw error;
          expect(error.message).toContain('nothing was changed');
        }
      }
    },
  });
});

const inUsd = (...ids: number[]) => ids.map((affiliate_id) => ({ affiliate_id, currency: 'usd' }));

test('a list has to name every line of the payout and no other', () => {
  const listed = read(`${HEADER}1,true\n2,false\n`);
  const check = (lines: { affiliate_id: number; currency: string }[]) =>
    checkComplete(ofLines(listed, lines), lines);
  expect(() => check(inUsd(1, 2))).not.toThrow();
  expect(() => check(inUsd(1))).toThrow('line 3, column affiliate_id: affiliate 2 is not in');
  expect(() => check(inUsd(...Array.from({ length: 30 }, (_, index) => index + 1)))).toThrow(
    '3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22 and 8 more',
  );
  const lines = [...inUsd(1, 2), { affiliate_id: 1, currency: 'kwd' }];
  expect(() => check(lines)).not.toThrow();
  const oneLine = read('affiliate_id,currency,is_paid\n1,usd,true\n2,,false\n');
  expect(() => checkComplete(ofLines(oneLine, lines), lines)).toThrow(
    'the list does not name affiliates 1 in KWD;',
  );
  const strange = read('affiliate_id,currency,is_paid\n1,,true\n2,eur,false\n');
  expect(() => checkComplete(ofLines(strange, lines), lines)).toThrow(
    'affiliate 2 in EUR is not in the payout',
  );
});

test('a list may say of each currency something else, and how much was paid', () => {
  expect(read('affiliate_id,currency,is_paid,amount\n1,USD,true,20.00\n1,kwd,false,\n2,,true,\n')).toEqual([
    { affiliate_id: 1, currency: 'usd', is_paid: true, amount: 2000, where: 'line 2, column affiliate_id' },
    { affiliate_id: 1, currency: 'kwd', is_paid: false, where: 'line 3, column affiliate_id' },
    { affiliate_id: 2, is_paid: true, where: 'line 4, column affiliate_id' },
  ]);
});

test.each([
  ['1,usd,true,\n1,USD,false,', 'line 3, column affiliate_id: affiliate 1 in USD is already in line 2'],
  ['1,usd,true,\n1,kwd,true,\n1,,true,', 'line 4, column affiliate_id: affiliate 1 is already in line 2'],
  ['1,,true,\n1,usd,true,', 'line 3, column affiliate_id: affiliate 1 is already in line 2'],
  ['1,dollars,true,', 'line 2, column currency: must be an ISO 4217 code such as usd, not "dollars"'],
  ['1,,true,5.00', 'line 2, column amount: needs a currency'],
  ['1,usd,false,5.00', 'line 2, column amount: is the amount paid, but is_paid is false'],
  ['1,usd,true,0.00', 'line 2, column amount: must be an amount in USD above zero, not "0.00"'],
  ['1,usd,true,5.001', 'line 2, column amount: must be an amount in USD above zero, not "5.001"'],
])('%j is refused, naming the rule', (lines, message) => {
  expect(() => read(`affiliate_id,currency,is_paid,amount\n${lines}\n`)).toThrow(message);
});

test('of several lists, who is paid in one is paid, each currency by itself, and no line in two', () => {
  const lines = [...inUsd(1, 2), { affiliate_id: 1, currency: 'kwd' }];
  const of = (text: string) => ofLines(read(`affiliate_id,currency,is_paid\n${text}`), lines);
  const dollars = of('1,usd,true\n1,kwd,false\n2,usd,false\n');
  const dinars = of('1,kwd,true\n1,usd,false\n2,usd,true\n');
  expect(mergeLists([dollars, dinars]).map(({ currency, is_paid }) => [currency, is_paid])).toEqual([
    ['usd', true],
    ['kwd', true],
    ['usd', true],
  ]);
  expect(() => mergeLists([dollars, of('1,,true\n2,,false\n')])).toThrow(
    'affiliate 1 in USD is also paid in another file',
  );
});

test('a payment file says itself who was paid, and how much', () => {
  const paypal =
    'a@b.example,20.00,USD,4-7,Affiliate payout 4,PAYPAL\r\nc@d.example,7,JPY,P4-A9,Affiliate payout 4,PAYPAL\r\n';
  expect(paymentFormat(Buffer.from(paypal))).toBe('paypal');
  expect(paymentFormat(Buffer.from(`${LONG}1,true,PAYPAL\n`))).toBeNull();
  const found = [
    {
      affiliate_id: 7,
      currency: 'usd',
      amount: 2000,
      is_paid: true,
      payment_reference: '4-7',
      where: 'line 1',
    },
    {
      affiliate_id: 9,
      currency: 'jpy',
      amount: 7,
      is_paid: true,
      payment_reference: 'P4-A9',
      where: 'line 2',
    },
  ];
  expect(readPaymentFile('paypal', 4, Buffer.from(paypal))).toEqual(found);
  const wise =
    'name,recipientEmail,paymentReference,receiverType,amountCurrency,amount,sourceCurrency,targetCurrency\r\n' +
    'Ada,a@b.example,4-7,PERSON,target,20.00,EUR,USD\r\n';
  expect(paymentFormat(Buffer.from(wise))).toBe('wise');
  expect(readPaymentFile('wise', 4, Buffer.from(wise))).toEqual([{ ...found[0], where: 'line 2' }]);
  const bank =
    'name,recipientEmail,paymentReference,referenceNumber,receiverType,amountCurrency,amount,sourceCurrency,targetCurrency,IBAN' +
    ',addressCountryCode\r\nAda,a@b.example,P4-A7,,PERSON,target,20.00,USD,EUR,DE89370400440532013000,DE\r\n';
  expect(paymentFormat(Buffer.from(bank))).toBe('wise_bank');
  expect(readPaymentFile('wise_bank', 4, Buffer.from(bank))).toEqual([
    { ...found[0], currency: 'eur', payment_reference: 'P4-A7', where: 'line 2' },
  ]);
  const refused = (text: string) => () => readPaymentFile('paypal', 4, Buffer.from(text));
  expect(refused(paypal.replace('4-7', '3-7'))).toThrow(
    'the file pays 3-7, which is not in this payout; nothing was changed',
  );
  expect(refused(paypal.replace('20.00', '20.001'))).toThrow('an amount that cannot be read: 20.001');
  expect(refused(`${paypal}${paypal}`)).toThrow('line 3: 4-7 is already in line 1');
  expect(refused(paypal.slice(0, -4))).toThrow('nothing was changed');
});

test('ids on the command line are positive integers, with a currency and an amount if wanted, and commas between', () => {
  expect(readNamed('--paid', '1, 2:USD,30:huf=1200')).toEqual([
    { affiliate_id: 1 },
    { affiliate_id: 2, currency: 'usd' },
    { affiliate_id: 30, currency: 'huf', amount: 120_000 },
  ]);
  for (const text of ['', '1,', 'a', '1;2', '-1', '1.5', '0', '1:', '1:us', '1=5']) {
    expect(() => readNamed('--paid', text)).toThrow('--paid must be affiliate ids');
  }
  expect(() => readNamed('--paid', '1:xxy')).toThrow('xxy is not an ISO 4217 currency code');
  for (const text of ['1:usd=0', '1:usd=1.234', '1:usd=x']) {
    expect(() => readNamed('--paid', text)).toThrow('is not an amount in USD above zero');
  }
});
