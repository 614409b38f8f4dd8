import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('publishes have their turns side by side, and a claim has its own', async () => {
  const turns = createTurns();
  expect([turns.take('publish', 0), turns.take('publish', 0), turns.take('claim', 0)]).toEqual([
    true,
    true,
    false,
  ]);
  const claim = turns.take('claim', 60_000);
  turns.give();
  expect(turns.take('claim', 0)).toBe(false);
  turns.give();
  expect(await claim).toBe(true);
  expect([turns.take('publish', 0), turns.take('claim', 0)]).toEqual([false, false]);
});

test('nobody overtakes a claim that waits', async () => {
  const turns = createTurns();
  turns.take('publish', 0);
  const order: string[] = [];
  const claim = Promise.resolve(turns.take('claim', 60_000)).then(() => order.push('claim'));
  expect(turns.take('publish', 0)).toBe(false);
  const publishes = [1, 2].map(async () => {
    await turns.take('publish', 60_000);
    order.push('publish');
  });
  turns.give();
  await claim;
  expect(order).toEqual(['claim']);
  turns.give();
  await Promise.all(publishes);
  expect(order).toEqual(['claim', 'publish', 'publish']);
});

test('whoever has waited long enough goes without a turn, and holds up nobody', async () => {
  const turns = createTurns();
  turns.take('claim', 0);
  expect(await turns.take('publish', 1)).toBe(false);
  turns.give();
  expect(turns.take('claim', 0)).toBe(true);
});
