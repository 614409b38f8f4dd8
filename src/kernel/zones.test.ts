import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rounds } from '../../test/support/depth.ts';
import { expectProperty } from '../../test/support/properties.ts';
import { formatInstant, parseDay, parseDayIn } from './time.ts';
import { dayOf, isZone } from './zones.ts';

test.each(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Kiritimati', 'Etc/GMT+5', 'US/Eastern', 'GMT'])(
  '%s is a time zone',
  (name) => expect(isZone(name)).toBe(true),
);

test.each(['', 'Mars/Olympus', '+05:30', '-08', 'Europe', 'Europe/Berlin ', 'GMT+5', '5', 'constructor'])(
  '%j is none',
  (name) => expect(isZone(name)).toBe(false),
);

const spanOf = (day: string, zone: string) => {
  const { from, until } = parseDayIn(day, zone) ?? { from: Number.NaN, until: Number.NaN };
  return [formatInstant(from), formatInstant(until)];
};

describe('a day of a zone', () => {
  test.each([
    ['UTC', '2026-09-30', '2026-09-30T00:00:00.000Z', '2026-10-01T00:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-09-30', '2026-09-29T10:00:00.000Z', '2026-09-30T10:00:00.000Z'],
    ['America/Los_Angeles', '2026-09-30', '2026-09-30T07:00:00.000Z', '2026-10-01T07:00:00.000Z'],
    // 23 and 25 hours
    ['America/Los_Angeles', '2026-03-08', '2026-03-08T08:00:00.000Z', '2026-03-09T07:00:00.000Z'],
    ['America/Los_Angeles', '2026-11-01', '2026-11-01T07:00:00.000Z', '2026-11-02T08:00:00.000Z'],
    // half an hour
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', '2026-04-05T13:30:00.000Z'],
    // one midnight is skipped, another occurs twice
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z', '2018-11-05T02:00:00.000Z'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z', '2026-11-02T05:00:00.000Z'],
    // Samoa skipped from the 29th to the 31st
    ['Pacific/Apia', '2011-12-29', '2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', '2011-12-30T10:00:00.000Z'],
    ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z', '2011-12-31T10:00:00.000Z'],
    ['Pacific/Kiritimati', '2999-12-31', '2999-12-30T10:00:00.000Z', '2999-12-31T10:00:00.000Z'],
  ])('in %s, %s', (zone, day, from, until) => expect(spanOf(day, zone)).toEqual([from, until]));

  test('is where every instant of it lies, and the next one begins where it ends', () => {
    const zones = Intl.supportedValuesOf('timeZone');
    const at = (day: string) => parseDay(day) ?? 0;
    const instants = fc.integer({ min: at('2015-01-01'), max: at('2100-01-01') });
    return expectProperty({
      ...{
        name: 'days of a zone',
        arbitrary: fc.tuple(instants, fc.constantFrom(...zones)),
        cases: rounds(400, 2000),
      },
      check([ms, zone]) {
        const day = dayOf(ms, zone);
        const { from, until } = parseDayIn(day, zone) ?? { from: Number.NaN, until: Number.NaN };
        expect([from <= ms, ms < until, dayOf(from, zone)]).toEqual([true, true, day]);
      },
    });
  });
});
