import { expect, test } from 'vitest';
import { checkComplete, readIdList, readPaidFile } from './paid-list.ts';

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

test('a file without references may end without a line end', () => {
  expect(read(`${HEADER}1,true\n2,false`)).toHaveLength(2);
});

test.each([
  ['', 'line 1, column 1: the header must be'],
  ['1,true\n', 'line 1, column 1: the header must be'],
  ['affiliate_id;is_paid\n1;true\n', 'line 1, column 1: the header must be'],
  ['affiliate_id,paid\n1,true\n', 'line 1, column 2: the header must be'],
  ['affiliate_id\n1\n', 'line 1, column 2: the header must be'],
  ['affiliate_id,is_paid,payment_reference,x\n', 'line 1, column 4: the header must be'],
  [`${HEADER}1,true\n2,tr`, 'line 3, column is_paid: must be true or false, not "tr"'],
  [`${HEADER}1,1\n`, 'line 2, column is_paid: must be true or false, not "1"'],
  [`${HEADER}1,\n`, 'line 2, column is_paid: must be true or false, not ""'],
  [`${HEADER}1,true\n2`, 'line 3, column is_paid: is missing: is the line cut off?'],
  [`${HEADER}1,true,x\n`, 'line 2, column 3: there is no such column'],
  [`${HEADER}0,true\n`, 'line 2, column affiliate_id: must be a positive integer, not "0"'],
  [`${HEADER}1.5,true\n`, 'line 2, column affiliate_id: must be a positive integer'],
  [`${HEADER}1e3,true\n`, 'line 2, column affiliate_id: must be a positive integer'],
  [`${HEADER}1,true\n\n1,true\n`, 'line 4, column affiliate_id: affiliate 1 is already in line 2'],
  [`${LONG}1,true\n`, 'line 2, column payment_reference: is missing'],
  [`${LONG}1,true,RE`, 'line 2, column payment_reference: the file ends without a line end'],
  [`${LONG}1,true,${'x'.repeat(256)}\n`, 'line 2, column payment_reference: has more than 255'],
  [`${HEADER}1,"true\n`, 'Quote Not Closed'],
])('%j is refused, naming the place', (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test('a file that is not UTF-8 is refused', () => {
  expect(() => readPaidFile(Buffer.from([0x61, 0xff]))).toThrow('not UTF-8');
});

test('a list has to name every affiliate of the payout and no other', () => {
  const entries = read(`${HEADER}1,true\n2,false\n`);
  expect(() => checkComplete(entries, new Set([1, 2]))).not.toThrow();
  expect(() => checkComplete(entries, new Set([1]))).toThrow(
    'line 3, column affiliate_id: affiliate 2 is not in',
  );
  const many = new Set(Array.from({ length: 30 }, (_, index) => index + 1));
  expect(() => checkComplete(entries, many)).toThrow(
    '3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22 and 8 more',
  );
});

test('ids on the command line are positive integers with commas between', () => {
  expect(readIdList('--paid', '1, 2,30')).toEqual([1, 2, 30]);
  for (const text of ['', '1,', 'a', '1;2', '-1', '1.5', '0']) {
    expect(() => readIdList('--paid', text)).toThrow('--paid must be affiliate ids');
  }
});
