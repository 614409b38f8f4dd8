import { expect, test } from 'vitest';
import { turnsOfOwners } from './turns-of-owners.ts';

async function turn(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('one of an owner runs at a time, few in all, and the owners in turn', async () => {
  const inTurn = turnsOfOwners(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (owner: string, name: string) =>
    inTurn(owner, () => {
      begun.push(name);
      return new Promise<string>((resolve) => {
        ends.set(name, () => resolve(name));
      });
    });
  const answers = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('c', 'c1')];
  expect(begun).toEqual(['a1', 'b1']);
  ends.get('a1')?.();
  await turn();
  // a was served last
  expect(begun).toEqual(['a1', 'b1', 'c1']);
  ends.get('c1')?.();
  await turn();
  expect(begun.slice(3)).toEqual(['a2']);
  ends.get('b1')?.();
  await turn();
  expect(begun).toHaveLength(4);
  ends.get('a2')?.();
  await turn();
  ends.get('a3')?.();
  expect(await Promise.all(answers)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
});

test('it goes on after a failure, which only its caller sees', async () => {
  const inTurn = turnsOfOwners(1);
  const failing = inTurn('a', () => Promise.reject(new Error('not now')));
  const next = inTurn('a', () => Promise.resolve(2));
  await expect(failing).rejects.toThrow('not now');
  expect(await next).toBe(2);
});
