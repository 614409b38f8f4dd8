import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Finished } from './attempt.ts';
import { createGathering, type Gathering } from './gather.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const resultOf = (lane: number, succeeded = true, orderingKey: string | null = null) =>
  ({ delivery: { lane, orderingKey }, result: { succeeded } }) as unknown as Finished;

/** How many milliseconds the results wait if this happens 5 ms after the first arrived. */
async function waitOf(happens: (gathering: Gathering) => void, isAwaited = () => false): Promise<number> {
  const gathering = createGathering(isAwaited);
  gathering.add(resultOf(64), 1);
  let isOver = false;
  void gathering.more().then(() => {
    isOver = true;
  });
  for (let ms = 1; ms <= 30; ms += 1) {
    if (ms === 6) happens(gathering);
    await vi.advanceTimersByTimeAsync(1);
    if (isOver) return ms;
  }
  return Number.POSITIVE_INFINITY;
}

test.each([
  ['nothing happens', () => {}, 20],
  ['others follow', (gathering: Gathering) => gathering.add(resultOf(64), 7), 20],
  ['there are eight', (gathering: Gathering) => gathering.add(resultOf(64), 8), 7],
  ['they fill half a lane', (gathering: Gathering) => gathering.add(resultOf(4), 2), 7],
  ['an attempt fails', (gathering: Gathering) => gathering.add(resultOf(64, false), 2), 7],
  ['one has an ordering key', (gathering: Gathering) => gathering.add(resultOf(64, true, 'order:1'), 2), 7],
  ['a search leaves deliveries behind', (gathering: Gathering) => gathering.hurry(), 7],
])('results are batched unless awaited: %s', async (_, happens, ms) => {
  expect(await waitOf(happens)).toBe(ms);
});

test('they wait briefly if a delivery is already waiting, or other workers exist', async () => {
  expect(
    await waitOf(
      () => {},
      () => true,
    ),
  ).toBe(2);
});

test('later results wait the usual time again', async () => {
  const gathering = createGathering(() => false);
  gathering.add(resultOf(64, false), 1);
  const first = gathering.more();
  await vi.advanceTimersByTimeAsync(2);
  await first;
  gathering.add(resultOf(64), 1);
  let isOver = false;
  void gathering.more().then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(19);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver).toBe(true);
});
