import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readIban } from '../../src/terms/bank-accounts.ts';
import { rounds } from '../support/depth.ts';

const TOOLS = fileURLToPath(new URL('../tools/', import.meta.url));
const PYTHON = `${TOOLS}python/bin/python`;

function ask(args: readonly string[], input = ''): string[] {
  const options = { input, encoding: 'utf8', maxBuffer: 1 << 26 } as const;
  return execFileSync(PYTHON, [`${TOOLS}iban.py`, ...args], options)
    .trim()
    .split('\n');
}

function missingJudge(): string | null {
  try {
    if (existsSync(PYTHON)) execFileSync(PYTHON, ['-c', 'import schwifty'], { stdio: 'ignore' });
    return existsSync(PYTHON) ? null : 'no Python (.ci/run makes it)';
  } catch {
    return 'no schwifty (.ci/run installs it)';
  }
}
const missing = missingJudge();

/** Ways to mistype an IBAN; `place` and `other` choose where and with what. */
const MISTAKES: readonly ((iban: string, place: number, other: string) => string)[] = [
  (iban, place, other) => iban.slice(0, place) + other + iban.slice(place + 1),
  (iban, place) => iban.slice(0, place) + iban.slice(place + 1),
  (iban, place, other) => iban.slice(0, place) + other + iban.slice(place),
  (iban, place) => iban.slice(0, place) + (iban[place + 1] ?? '') + iban[place] + iban.slice(place + 2),
  (iban) => iban.slice(0, -1),
];
/** Ways to write a right one. */
const WRITTEN: readonly ((iban: string) => string)[] = [
  (iban) => iban,
  (iban) => iban.toLowerCase(),
  (iban) => iban.replace(/.{4}/g, '$& '),
];

/** Our verdict on the number alone: a country outside SEPA is no mistake in it. */
function ours(text: string): { isGood: boolean; rule: string } {
  const read = readIban(text);
  if ('value' in read) return { isGood: true, rule: '' };
  return { isGood: read.rule.startsWith('must be of a country in SEPA'), rule: read.rule };
}

/**
 * Where the two may differ: we also check the national check digits within the account number, which schwifty does only
 * on request, and for other countries.
 */
const isOwnRule = (rule: string) => rule.startsWith('has a wrong check digit of its bank');

const RIGHT = rounds(150, 4000);

describe.skipIf(missing !== null)(`schwifty${missing === null ? '' : `: ${missing}`}`, () => {
  test('judges IBANs of all its countries as we do, right and mistyped', () => {
    const right = missing === null ? ask(['random', `${RIGHT}`, '19']) : [];
    const mistyped = fc.sample(
      fc
        .tuple(
          fc.constantFrom(...right),
          fc.constantFrom(...MISTAKES),
          fc.nat(),
          fc.constantFrom(...'0123456789ABZ'),
        )
        .map(([iban, mistake, place, other]) => mistake(iban, place % iban.length, other)),
      { seed: 19, numRuns: rounds(200, 6000) },
    );
    const all = [...right.map((iban, place) => WRITTEN[place % WRITTEN.length]?.(iban) ?? iban), ...mistyped];
    const theirs = ask(['judge'], all.join('\n'));
    expect(theirs).toHaveLength(all.length);
    const differences = all.flatMap((iban, place) => {
      const { isGood, rule } = ours(iban);
      const isGoodThere = theirs[place] === 'good';
      return isGood === isGoodThere || (isGoodThere && isOwnRule(rule))
        ? []
        : [{ iban, rule, theirs: theirs[place] }];
    });
    expect(differences).toEqual([]);
    expect(theirs.filter((verdict) => verdict === 'good').length).toBeGreaterThan(RIGHT * 0.975);
    expect(theirs.filter((verdict) => verdict !== 'good').length).toBeGreaterThan(RIGHT * 1.25);
    expect(all.filter((iban) => ours(iban).isGood).length).toBeGreaterThan(RIGHT * 0.875);
  });
});
