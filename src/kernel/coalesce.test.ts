import { describe, expect, test } from 'vitest';
import { coalesce } from './coalesce.ts';

/** A run whose batches end when the test says so. */
function controlled() {
  const batches: { items: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const run = (items: readonly number[]) =>
    new Promise<number[]>((resolve, reject) => {
      batches.push({ items: [...items], end: () => resolve(items.map((item) => item * 10)), fail: reject });
    });
  return { batches, run };
}

/** A few turns of the event loop: settling a batch and starting the next takes more than one. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('coalesce', () => {
  test('what is asked in one turn goes together, and each gets its own result', async () => {
    const { batches, run } = controlled();
    const ask = coalesce(run);
    const answers = Promise.all([ask(1), ask(2), ask(3)]);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2, 3]]);
    batches[0]?.end();
    expect(await answers).toEqual([10, 20, 30]);
  });

  test('what piles up while batches are under way goes in the next one', async () => {
    const { batches, run } = controlled();
    const ask = coalesce(run, { inFlight: 1 });
    const first = ask(1);
    await turn();
    const rest = [ask(2), ask(3)];
    await turn();
    rest.push(ask(4));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1]]);
    batches[0]?.end();
    await first;
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
    batches[1]?.end();
    expect(await Promise.all(rest)).toEqual([20, 30, 40]);
  });

  test('a batch holds no more items, and no more weight, than it may', async () => {
    const { batches, run } = controlled();
    const ask = coalesce(run, { inFlight: 9, max: 3, weight: { of: (item) => item, max: 10 } });
    const answers = [4, 5, 1, 1, 2, 50, 1].map(ask);
    for (let i = 0; i < 9; i += 1) await turn();
    expect(batches.map(({ items }) => items)).toEqual([[4, 5, 1], [1, 2], [50], [1]]);
    for (const { end } of batches) end();
    await Promise.all(answers);
  });

  test('a batch that fails for one of its items is asked again one by one', async () => {
    const asked: number[][] = [];
    const run = async (items: readonly number[]) => {
      asked.push([...items]);
      if (items.includes(2)) throw new Error('no two');
      return items;
    };
    const ask = coalesce(run, {
      isOfOneItem: (error, size) => size > 1 && (error as Error).message === 'no two',
    });
    const answers = await Promise.allSettled([1, 2, 3].map(ask));
    expect(asked).toEqual([[1, 2, 3], [1], [2], [3]]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('a batch that fails for another reason is not asked again', async () => {
    let count = 0;
    const ask = coalesce(async () => {
      count += 1;
      throw new Error('nobody is there');
    });
    const answers = await Promise.allSettled([1, 2, 3].map(ask));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(count).toBe(1);
  });

  test('it goes on after a failure', async () => {
    let fails = true;
    const ask = coalesce(
      async (items: readonly number[]) => {
        if (fails) throw new Error('not now');
        return items;
      },
      { inFlight: 1 },
    );
    await expect(ask(1)).rejects.toThrow('not now');
    fails = false;
    expect(await ask(2)).toBe(2);
  });

  test('items that share a name never go together, and hold up nobody else', async () => {
    const { batches, run } = controlled();
    const ask = coalesce(run, { inFlight: 9, apart: (item) => [String(item % 10)] });
    const answers = [1, 11, 2, 21, 3].map(ask);
    for (let i = 0; i < 9; i += 1) await turn();
    expect(batches.map(({ items }) => items)).toEqual([[1, 2, 3], [11], [21]]);
    for (const { end } of batches) end();
    expect(await Promise.all(answers)).toEqual([10, 110, 20, 210, 30]);
  });

  test('a batch takes one item of each owner in turn, and whoever had no room is first in the next', async () => {
    const { batches, run } = controlled();
    const ownerOf = (item: number) => String(Math.floor(item / 100));
    const ask = coalesce(run, {
      inFlight: 9,
      max: 4,
      ownerOf,
      apart: (item) => (item === 103 || item === 101 ? ['x'] : []),
    });
    const answers = [101, 102, 103, 104, 105, 106, 201, 301, 302].map(ask);
    for (let i = 0; i < 9; i += 1) await turn();
    expect(batches.map(({ items }) => items)).toEqual([[101, 201, 301, 102], [302, 103, 104, 105], [106]]);
    for (const { end } of batches) end();
    await Promise.all(answers);
  });

  test('an item that takes long by itself, after its batch failed, holds up no batch', async () => {
    const asked: number[][] = [];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const run = async (items: readonly number[]) => {
      asked.push([...items]);
      if (items.length > 1 && items.includes(2)) throw new Error('no two');
      if (items.includes(2)) await held;
      return items;
    };
    const ask = coalesce(run, { inFlight: 1, isOfOneItem: (_, size) => size > 1 });
    const slow = [1, 2].map(ask);
    expect(await slow[0]).toBe(1);
    expect(await ask(3)).toBe(3);
    release();
    expect(await slow[1]).toBe(2);
    expect(asked).toEqual([[1, 2], [1], [2], [3]]);
  });
});
