import { expect, test } from 'vitest';
import { createLeaseGate } from './lease-gate.ts';

test('publishes lease in parallel, and a claim leases alone', async () => {
  const gate = createLeaseGate();
  expect([gate.enter('publish', 0), gate.enter('publish', 0), gate.enter('claim', 0)]).toEqual([
    true,
    true,
    false,
  ]);
  const claim = gate.enter('claim', 60_000);
  gate.leave();
  expect(gate.enter('claim', 0)).toBe(false);
  gate.leave();
  expect(await claim).toBe(true);
  expect([gate.enter('publish', 0), gate.enter('claim', 0)]).toEqual([false, false]);
});

test('no publish overtakes a waiting claim', async () => {
  const gate = createLeaseGate();
  gate.enter('publish', 0);
  const order: string[] = [];
  const claim = Promise.resolve(gate.enter('claim', 60_000)).then(() => order.push('claim'));
  expect(gate.enter('publish', 0)).toBe(false);
  const publishes = [1, 2].map(async () => {
    await gate.enter('publish', 60_000);
    order.push('publish');
  });
  gate.leave();
  await claim;
  expect(order).toEqual(['claim']);
  gate.leave();
  await Promise.all(publishes);
  expect(order).toEqual(['claim', 'publish', 'publish']);
});

test('a publish that waited too long leases nothing, and holds up no other', async () => {
  const gate = createLeaseGate();
  gate.enter('claim', 0);
  expect(await gate.enter('publish', 1)).toBe(false);
  gate.leave();
  expect(gate.enter('claim', 0)).toBe(true);
});
