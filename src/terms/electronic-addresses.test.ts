import { expect, test } from 'vitest';
import { readElectronicAddress } from './electronic-addresses.ts';

test.each([
  ['0208:0123456749', '0208:0123456749'],
  [' 9930 : DE136695976 ', '9930:DE136695976'],
  ['0088:7300010000001', '0088:7300010000001'],
  ['0192:991825827', '0192:991825827'],
  ['0002:732829320', '0002:732829320'],
  ['0208:0123456748', null],
  ['0088:7300010000002', null],
  ['0192:991825828', null],
  ['0002:73282932000074', null],
  ['0106:1234567', null],
  ['1234:0123456749', null],
  ['0208', null],
  ['0208:', null],
  ['9930:DE 136695976', null],
])('the electronic address %s is read as %s', (text, address) => {
  expect(readElectronicAddress(text)).toEqual(
    address === null ? { rule: expect.any(String) } : { value: address },
  );
});
