import { expect, test } from 'vitest';
import { countryName } from './countries.ts';

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const codes = letters.flatMap((first) => letters.map((second) => first + second));

test('the 249 countries of ISO 3166-1 and Kosovo have names, and nothing else does', () => {
  const named = codes.filter((code) => countryName(code) !== null);
  expect(named).toHaveLength(250);
  expect(['DE', 'US', 'GB', 'XK', 'AX'].map(countryName)).toEqual([
    'Germany',
    'United States',
    'United Kingdom',
    'Kosovo',
    'Åland Islands',
  ]);
  const none = ['EU', 'ZZ', 'DD', 'UK', 'XA', 'SU', 'de', 'D', 'DEU', '', '12'];
  expect(none.map(countryName)).toEqual(none.map(() => null));
});
