import { expect, test } from 'vitest';
import { nil } from '../kernel/ids.ts';
import { LOCKS } from './locks.ts';

test('no two advisory locks have the same key, in any cell', () => {
  const { chore, refundsOfAccount, refundsOfOrder, importStage, letters, missing, attempts, ...numbered } =
    LOCKS;
  const locks = [
    ...Object.values(numbered),
    chore('a'),
    refundsOfAccount(nil()),
    refundsOfOrder(nil(), 'a'),
    importStage(nil(), 'a', 'reading'),
    importStage(nil(), 'a', 'writing'),
    letters('a'),
    missing(nil()),
    attempts('a'),
  ];
  const keys = [0, 1, 12].flatMap((cell) =>
    locks.map((lock) => JSON.stringify([lock(cell).text, lock(cell).values])),
  );
  expect(new Set(keys).size).toBe(keys.length);
});
