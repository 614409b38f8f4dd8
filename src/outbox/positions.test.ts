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

test('a late transaction sets a position back, until a search that began after it', () => {
  const { clock, positions, lateMs, dueAt } = start();
  positions.make([at('1')], 1000);
  const usual = lateMs();
  positions.noteLate(100);
  expect(lateMs()).toBe(usual);
  clock.now = 2000;
  positions.noteLate(5000);
  clock.now = 2500;
  expect(lateMs()).toBeGreaterThanOrEqual(usual + 5500);
  // a search that was running then may not have seen it
  positions.advance([at('2')], 1999);
  expect(lateMs()).toBeGreaterThanOrEqual(usual + 5500);
  positions.advance([at('3')], 2001);
  expect([lateMs(), dueAt()]).toEqual([usual, '3']);
});

test('an announcement while a position is being searched applies to it', () => {
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

test('a position is searched again after a minute, and removed if few dead rows are left', () => {
  const { clock, positions } = start();
  positions.make([at('1')], 1000);
  expect(positions.oldest()).toBeNull();
  clock.now += 60_001;
  expect(positions.oldest()).toMatchObject({ endpoint_id: 'endpoint' });
  positions.make([], clock.now, 'endpoint' as EndpointId);
  expect(positions.json()).toBe('[]');
});
