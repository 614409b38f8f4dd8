import { describe, expect, test } from 'vitest';
import { compileExpression, countSteps, parseExpression, TooManySteps } from '../support/expression-steps.ts';
import { expressionsIn } from '../support/expressions-in.ts';
import { hostileTexts } from '../support/hostile-texts.ts';

/** Expressions with parts known only at run time, each with an example. */
const MADE_IN_A_RUN: Readonly<Record<string, RegExp>> = {
  "src/http/methods.ts: new RegExp(`^/${pattern.join('/')}/?$`)":
    /^\/v2\/webhook-endpoints\/[^/]+\/events\/[^/]+\/retry\/?$/,
  'src/kernel/csv-guard.ts: new RegExp(`^(?:[${escaped(BLANKS)}]*[${escaped(SIGNS)}]|[${escaped(CONTROLS)}])`)':
    /^(?:[ \u00a0\u3000]*[=+\-@\uff1d]|[\t\r\n])/,
  "src/kernel/visible.ts: new RegExp(UNSEEN, 'gu')": /[\p{Cc}\p{Cf}]/gu,
  // what `patternOf` accepts: one piece without a limit, and at most 32 ways for the others
  "src/webhooks/types/schema.ts: new RegExp(text, 'u')": /^[a-z]{0,15}[a-z]*-?[a-z]{2}$/u,
};

const LIMIT = 1_000_000;

/** A text on which a regular expression takes more than linear time, described; null when there is none. */
function slowText(source: string, flags: string): string | null {
  const root = parseExpression(source);
  const program = compileExpression(root, flags);
  const cost = (text: string) => {
    try {
      return countSteps(program, text, LIMIT);
    } catch (error) {
      if (error instanceof TooManySteps) return LIMIT;
      throw error;
    }
  };
  for (const { start, unit, end } of hostileTexts(root, source, flags)) {
    const grows = (length: number, least: number) => {
      const count = Math.ceil(length / unit.length);
      const [before, after] = [count, count * 2].map((times) => cost(start + unit.repeat(times) + end));
      return Number(after) >= LIMIT || Number(after) > Number(before) * least;
    };
    // linear cost doubles with the length, quadratic cost grows by four; a short text shows it too, and excludes most
    if (grows(64, 2.05) && grows(256, 2.4) && grows(1024, 2.6) && grows(4096, 3)) {
      return `${JSON.stringify(start)} + ${JSON.stringify(unit)} repeated + ${JSON.stringify(end)}`;
    }
  }
  return null;
}

describe('a regular expression', () => {
  test('is classified as slow or fast by the steps of its search', () => {
    for (const slow of [
      '^(a+)+$',
      '\\s+$',
      '^\\s*a?\\s*$',
      '^(-?)\\s*(?:([A-Z]{3})\\s*)?([\\d ]*\\d)\\s*$',
      '(\\.\\d*?)0+$',
      '(?:a|ab)*(?:b|ab)*$',
      'x*y?x*z',
      '(?<=a.*)b',
    ]) {
      expect({ source: slow, text: slowText(slow, '') }).not.toEqual({ source: slow, text: null });
    }
    for (const fast of ['^\\d+$', '^[a-z]+(?:-[a-z]+)*$', '^(\\d{1,3})(?:,\\d{3})*$', 'a[^a]*', '^\\s+'])
      expect({ source: fast, text: slowText(fast, '') }).toEqual({ source: fast, text: null });
  });

  test('in the program takes at most linear steps on any text', () => {
    const { found, unknown } = expressionsIn(['src', 'dashboard']);
    expect(found.length).toBeGreaterThan(100);
    expect(unknown).toEqual(Object.keys(MADE_IN_A_RUN));
    const made = Object.entries(MADE_IN_A_RUN).map(([file, { source, flags }]) => ({ file, source, flags }));
    const slow = [
      ...new Map([...found, ...made].map((one) => [`${one.source} ${one.flags}`, one])).values(),
    ].flatMap(({ file, source, flags }) => {
      const text = slowText(source, flags);
      return text === null ? [] : [`${file}: /${source}/${flags} with ${text}`];
    });
    expect(slow).toEqual([]);
  });
});
