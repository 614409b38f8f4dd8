import { describe, expect, test } from 'vitest';
import { formatInstant, parseDay, parseInstant, parseInstantOrDay } from './time.ts';

describe('an RFC 3339 instant', () => {
  test.each([
    ['2026-09-15T08:30:00Z', '2026-09-15T08:30:00.000Z'],
    ['2026-09-15t08:30:00z', '2026-09-15T08:30:00.000Z'],
    ['2026-09-15T08:30:00.1Z', '2026-09-15T08:30:00.100Z'],
    ['2026-09-15T08:30:00.1239999Z', '2026-09-15T08:30:00.123Z'],
    ['2026-09-15T08:30:00+02:00', '2026-09-15T06:30:00.000Z'],
    ['2026-01-01T00:30:00+05:45', '2025-12-31T18:45:00.000Z'],
    ['2026-09-15T08:30:00-23:59', '2026-09-16T08:29:00.000Z'],
    ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
  ])('%s is %s', (text, shown) => {
    expect(formatInstant(parseInstant(text) ?? Number.NaN)).toBe(shown);
  });

  test.each([
    '',
    '2026-09-15',
    '2026-09-15T08:30:00',
    '2026-09-15 08:30:00Z',
    '2026-09-15T08:30Z',
    '2026-9-15T08:30:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-09-15T24:00:00Z',
    '2026-09-15T08:60:00Z',
    '2026-09-15T08:30:60Z',
    '2026-09-15T08:30:00+24:00',
    '2026-09-15T08:30:00+0200',
    '2026-09-15T08:30:00.Z',
    '0099-01-01T00:00:00Z',
    '99999-01-01T00:00:00Z',
    ' 2026-09-15T08:30:00Z',
    '2026-09-15T08:30:00Z\n',
    '٢٠٢٦-09-15T08:30:00Z',
  ])('%j is none', (text) => {
    expect(parseInstant(text)).toBeNull();
  });
});

describe('a day', () => {
  test('is its 24 hours in UTC', () => {
    const day = parseInstantOrDay('2026-09-15', 'UTC');
    expect(formatInstant(day?.from ?? 0)).toBe('2026-09-15T00:00:00.000Z');
    expect(formatInstant(day?.until ?? 0)).toBe('2026-09-16T00:00:00.000Z');
    const instant = parseInstantOrDay('2026-09-15T00:00:00Z', 'UTC');
    expect((instant?.until ?? 0) - (instant?.from ?? 0)).toBe(1);
  });

  test.each([
    '2026-02-30',
    '2025-02-29',
    '1969-12-31',
    '3000-01-01',
    '2026-1-1',
    '20260101',
    '',
    '2026-01-01\n',
  ])('%j is none', (text) => {
    expect(parseDay(text)).toBeNull();
    expect(parseInstantOrDay(text, 'UTC')).toBeNull();
  });
});
