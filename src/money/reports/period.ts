import { type Static, Type } from 'typebox';
import { strict } from '../../contract/schemas.ts';
import { fail } from '../../kernel/errors.ts';
import { parseDay, parseDayIn, type Span } from '../../kernel/time.ts';

const day = (description: string) =>
  Type.Optional(Type.String({ description: `a day YYYY-MM-DD: ${description}`, examples: ['2026-01-01'] }));

/** The period of a report: a year, or the days from one to another, both included. A missing bound is open. */
export const period = strict({
  year: Type.Optional(Type.String({ description: 'four digits, 1970 to 2999', examples: ['2026'] })),
  from: day('the first day'),
  to: day('the last day'),
});
export type PeriodInput = Static<typeof period>;

/** A period as requested, and the instants it spans. */
export interface Period {
  /** The year, if the period is a whole one; else null. */
  readonly year: number | null;
  /** The requested days; null = open. */
  readonly from: string | null;
  readonly to: string | null;
  /** The end of a file's name. */
  readonly name: string;
  readonly span: Span;
}

const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '2999-12-31'];

const refuse = (message: string) => fail('invalid_query', message);

/** Reads a period in days of the zone. Throws `invalid_query`. */
export function readPeriod({ year, from, to }: PeriodInput, zone: string): Period {
  if (year !== undefined) {
    if (from !== undefined || to !== undefined) throw refuse('give a year, or from and to, not both');
    if (parseDay(`${year}-01-01`) === null) {
      throw refuse('year must be four digits such as 2026, from 1970 to 2999');
    }
    const [first, last] = [`${year}-01-01`, `${year}-12-31`];
    return { year: Number(year), from: first, to: last, name: `-${year}`, span: spanOf(first, last, zone) };
  }
  for (const [name, value] of Object.entries({ from, to })) {
    if (value !== undefined && parseDay(value) === null) {
      throw refuse(`${name} must be a day YYYY-MM-DD, from 1970 to 2999`);
    }
  }
  if (from !== undefined && to !== undefined && from > to) {
    throw refuse(`from must not be after to: ${from} is after ${to}`);
  }
  const name = `${from === undefined ? '' : `-from-${from}`}${to === undefined ? '' : `-to-${to}`}`;
  const span = spanOf(from ?? FIRST_DAY, to ?? LAST_DAY, zone);
  return { year: null, from: from ?? null, to: to ?? null, name, span };
}

function spanOf(first: string, last: string, zone: string): Span {
  return { from: parseDayIn(first, zone)?.from ?? 0, until: parseDayIn(last, zone)?.until ?? 0 };
}
