import { describe, expect, test } from 'vitest';
import { endingOf, readSiren, readTaxId } from './tax-ids.ts';
import type { TaxIdType } from './taxes.ts';

describe('what people write is read as one number', () => {
  test.each<[TaxIdType, string, string]>([
    ['us_ssn', '536-90-4399', '536904399'],
    ['us_ssn', ' 899 99 9999 ', '899999999'],
    ['us_itin', '900-70-0000', '900700000'],
    ['us_itin', '912-94-1234', '912941234'],
    ['us_ein', '91-1144442', '911144442'],
    ['vat', 'DE 136 695 976', 'DE136695976'],
    ['vat', 'de136695976', 'DE136695976'],
    ['vat', 'CHE-116.281.710', 'CHE116281710'],
    ['vat', 'EL094259216', 'EL094259216'],
    ['vat', 'XI980780684', 'XI980780684'],
    ['vat', 'GB980780684', 'GB980780684'],
    ['vat', 'NL004495445B01', 'NL004495445B01'],
    ['other', ' 12/345/67890 ', '12/345/67890'],
  ])('%s %s', (type, text, id) => {
    expect(readTaxId(type, text)).toEqual({ value: id });
  });
});

describe('what breaks a rule is refused', () => {
  test.each<[TaxIdType, string, string]>([
    ['us_ssn', '000-12-3456', 'social security'],
    ['us_ssn', '666-12-3456', '666'],
    ['us_ssn', '912-70-3456', 'or 9'],
    ['us_ssn', '123-00-4567', 'zeros'],
    ['us_ssn', '123-45-0000', 'zeros'],
    ['us_ssn', '12345678', 'nine digits'],
    ['us_itin', '912-93-1234', 'ITIN'],
    ['us_itin', '912-66-1234', 'ITIN'],
    ['us_itin', '536-90-4399', 'beginning with 9'],
    ['us_ein', '00-1234567', '00'],
    ['us_ein', '1234567890', 'nine digits'],
    ['vat', 'DE136695978', 'check digit'],
    ['vat', 'GR094259216', 'in front'],
    ['vat', '136695976', 'in front'],
    ['vat', 'US123456789', 'other countries'],
    ['vat', '', 'in front'],
    ['other', 'é', 'letters A to Z'],
    ['other', 'x'.repeat(41), '3 to 40'],
  ])('%s %s', (type, text, rule) => {
    expect(readTaxId(type, text)).toEqual({ rule: expect.stringContaining(rule) });
  });
});

test('the ending of a short id does not show the whole of it', () => {
  expect(['536904399', 'RO18', 'ABC'].map(endingOf)).toEqual(['4399', '18', 'C']);
});

test.each([
  ['732 829 320', '732829320'],
  ['73282932000074', '73282932000074'],
  // La Poste
  ['35600000000048', '35600000000048'],
  ['35600000049837', '35600000049837'],
  ['732829321', null],
  ['73282932000075', null],
  ['35600000049838', null],
  ['73282932', null],
  ['FR732829320', null],
])('the SIREN or SIRET %s is read as %s', (text, id) => {
  expect(readSiren(text)).toEqual(id === null ? { rule: expect.any(String) } : { value: id });
});
