import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectProperty, type Property } from '../support/properties.ts';

const ROOT = new URL('../../', import.meta.url);

const small: Property<readonly number[]> = {
  name: 'small numbers',
  arbitrary: fc.array(fc.nat(1000)),
  cases: 100,
  check(numbers, { note }) {
    note(`looked at ${numbers.length}`);
    expect(Math.max(0, ...numbers)).toBeLessThan(50);
  },
};
const failure = (counterexamples: Parameters<typeof expectProperty>[1]) =>
  expectProperty(small, counterexamples).then(
    () => '',
    (error: Error) => error.message,
  );

test('a failed property prints the smallest case as the line that records it, and a recorded case is tried first', async () => {
  const message = await failure({ seeds: [7], share: 1, counterexamples: [] });
  expect(message).toContain('small numbers failed in case');
  expect(message).toContain('looked at 1');
  const line = JSON.parse(message.split('\n').at(-1) ?? '');
  expect(line).toEqual({
    found: expect.stringContaining('to be less than 50'),
    value: [50],
    seed: 7,
    path: expect.any(String),
  });
  const again = await failure({ seeds: [], share: 1, counterexamples: [line] });
  expect(again).toContain('small numbers fails again where it once failed');
  // the seed and the path identify the same case
  const { value, ...place } = line;
  expect(value).toEqual([50]);
  expect(await failure({ seeds: [], share: 1, counterexamples: [place] })).toBe(again);
});

test('a property runs the same cases every time', async () => {
  const run = async () => {
    const seen: unknown[] = [];
    await expectProperty(
      { ...small, check: (numbers) => void seen.push(numbers) },
      { seeds: [1], share: 1, counterexamples: [] },
    );
    return seen;
  };
  const first = await run();
  expect(first).toHaveLength(100);
  expect(await run()).toEqual(first);
});

test('each recorded property is one of the tests', () => {
  const recorded = JSON.parse(readFileSync(new URL('test/properties/recorded.json', ROOT), 'utf8'));
  const texts = ['src', 'test'].flatMap((folder) =>
    readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => readFileSync(new URL(`${folder}/${name}`, ROOT), 'utf8')),
  );
  const uses = (name: string) => texts.filter((text) => text.includes(`name: '${name}'`)).length;
  expect(Object.keys(recorded).filter((name) => uses(name) !== 1)).toEqual([]);
});
