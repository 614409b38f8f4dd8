import { expect, test } from 'vitest';
import type { AccountId, EndpointId } from '../kernel/ids.ts';
import { createPositions, type Position } from './positions.ts';

const at = (due_at: string): Position => ({
  account_id: 'account' as AccountId,
  endpoint_id: 'endpoint' as EndpointId,
  generation: 0,
  due_at,
});

/** Positions at a time that the test sets. */
function start() {
  const clock = { now: 1000 };
  const positions = createPositions(() => clock.now);
  const [lateMs, dueAt] = (['late_ms', 'due_at'] as const).map(
    (field) => () => JSON.parse(positions.json())[0]?.[field],
  );
  return { clock, positions, lateMs: lateMs as () => number, dueAt: dueAt as () => string };
}

test('a position goes back by what a late transaction says, until a look that began after that', () => {
  const { clock, positions, lateMs, dueAt } = start();
  positions.make([at('1')], 1000);
  const usual = lateMs();
  positions.noteLate(100);
  expect(lateMs()).toBe(usual);
  clock.now = 2000;
  positions.noteLate(5000);
  clock.now = 2500;
  expect(lateMs()).toBeGreaterThanOrEqual(usual + 5500);
  // a look that was under way then may not have seen it
  positions.advance([at('2')], 1999);
  expect(lateMs()).toBeGreaterThanOrEqual(usual + 5500);
  positions.advance([at('3')], 2001);
  expect([lateMs(), dueAt()]).toEqual([usual, '3']);
});

test('what is announced while a position is being found counts for it', () => {
  const { clock, positions, lateMs } = start();
  clock.now = 2000;
  positions.noteLate(5000);
  positions.make([at('1')], 1500);
  expect(lateMs()).toBeGreaterThan(5000);
  positions.forgetAll();
  expect(positions.json()).toBe('[]');
  positions.make([at('1')], 1500);
  expect(lateMs()).toBeGreaterThan(24 * 3_600_000);
});

test('a position is found again after a minute, and is gone if little is dead by then', () => {
  const { clock, positions } = start();
  positions.make([at('1')], 1000);
  expect(positions.oldest()).toBeNull();
  clock.now += 60_001;
  expect(positions.oldest()).toMatchObject({ endpoint_id: 'endpoint' });
  positions.make([], clock.now, 'endpoint' as EndpointId);
  expect(positions.json()).toBe('[]');
});
