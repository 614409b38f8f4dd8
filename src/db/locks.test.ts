import { expect, test } from 'vitest';
import { nil } from '../kernel/ids.ts';
import { LOCKS } from './locks.ts';

test('no two advisory locks have the same key', () => {
  const { chore, refundsOfAccount, refundsOfOrder, importStage, letters, attempts, ...numbered } = LOCKS;
  const locks = [
    ...Object.values(numbered),
    chore('a'),
    refundsOfAccount(nil()),
    refundsOfOrder(nil(), 'a'),
    importStage(nil(), 'a', 'reading'),
    importStage(nil(), 'a', 'writing'),
    letters('a'),
    attempts('a'),
  ];
  const keys = locks.map(({ text, values }) => JSON.stringify([text, values]));
  expect(new Set(keys).size).toBe(keys.length);
});
