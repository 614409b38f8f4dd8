import { describe, expect, test } from 'vitest';
import {
  currencyDigits,
  currencyTable,
  formatDecimal,
  multiplyRounded,
  normalizeCurrency,
  parseDecimal,
} from './money.ts';

describe('a currency', () => {
  test.each([
    ['usd', 2],
    ['jpy', 0],
    ['kwd', 3],
    ['isk', 0],
    ['bhd', 3],
  ])('%s has %i minor digits', (code, digits) => {
    expect(normalizeCurrency(code.toUpperCase())).toBe(code);
    expect(currencyDigits(code)).toBe(digits);
  });

  test.each(['', 'us', 'usdd', 'xyz', 'u$d', ' usd', 'usd ', 'USΔ'])('%j is none', (code) => {
    expect(normalizeCurrency(code)).toBeNull();
  });

  test('is listed once, three small letters each, more than 150 of them', () => {
    const codes = currencyTable().map(([code]) => code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.length).toBeGreaterThan(150);
    for (const code of codes) expect(code).toMatch(/^[a-z]{3}$/);
  });

  test('knows every one that the platform prints with other digits than two', () => {
    const known = new Map(currencyTable());
    for (const code of Intl.supportedValuesOf('currency')) {
      const digits = known.get(code.toLowerCase());
      if (digits === undefined) continue;
      const { maximumFractionDigits } = new Intl.NumberFormat('en', {
        style: 'currency',
        currency: code,
      }).resolvedOptions();
      // CLDR shows some currencies with fewer digits than ISO 4217 defines, never with more.
      expect(maximumFractionDigits).toBeLessThanOrEqual(digits);
    }
  });
});

describe('a decimal text', () => {
  test.each([
    ['31.90', 'usd', 3190n],
    ['31.9', 'usd', 3190n],
    ['31', 'usd', 3100n],
    ['0.01', 'usd', 1n],
    ['-0.50', 'usd', -50n],
    ['007.00', 'usd', 700n],
    ['500', 'jpy', 500n],
    ['1.234', 'kwd', 1234n],
    ['1.2', 'kwd', 1200n],
    ['999999999999999999.99', 'usd', 99999999999999999999n],
  ])('%s %s is %s minor units', (text, currency, minor) => {
    expect(parseDecimal(text, currency)).toBe(minor);
  });

  test.each([
    ['', 'usd'],
    ['.5', 'usd'],
    ['5.', 'usd'],
    ['1.005', 'usd'],
    ['1.0', 'jpy'],
    ['1.2345', 'kwd'],
    ['1,000', 'usd'],
    ['1e3', 'usd'],
    ['+1', 'usd'],
    ['--1', 'usd'],
    ['0x10', 'usd'],
    ['١', 'usd'],
    [' 1', 'usd'],
    ['1234567890123456789', 'usd'],
    ['1\n', 'usd'],
  ])('%j %s is refused', (text, currency) => {
    expect(parseDecimal(text, currency)).toBeNull();
  });

  test('comes back as it was printed, in every currency', () => {
    for (const [currency, digits] of currencyTable()) {
      for (const minor of [0n, 1n, -1n, 5n, 99n, 100n, -12345n, 9_007_199_254_740_993n]) {
        const text = formatDecimal(minor, currency);
        expect(parseDecimal(text, currency)).toBe(minor);
        expect(text.split('.')[1]?.length ?? 0).toBe(digits);
      }
    }
    expect(formatDecimal(-50n, 'usd')).toBe('-0.50');
    expect(formatDecimal(5n, 'kwd')).toBe('0.005');
    expect(formatDecimal(-7n, 'jpy')).toBe('-7');
  });
});

test.each([
  [1005n, 1000n, 10_000n, 101n],
  [1004n, 1000n, 10_000n, 100n],
  [-1005n, 1000n, 10_000n, -101n],
  [-1004n, 1000n, 10_000n, -100n],
  [0n, 5n, 3n, 0n],
  [1n, 1n, 3n, 0n],
  [2n, 1n, 3n, 1n],
  [10n ** 18n, 9999n, 10_000n, 999_900_000_000_000_000n],
])('%s times %s by %s is %s: half goes away from zero', (numerator, factor, divisor, expected) => {
  expect(multiplyRounded(numerator, factor, divisor)).toBe(expected);
});
