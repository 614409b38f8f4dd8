import { expect, test } from 'vitest';
import { pack } from './packing.ts';

const limits = { maxEvents: 3, maxBytes: 100, maxWaitMs: 1000, requests: 10 };
const due = (bytes: number, { ageMs = 0, isAlone = false } = {}) => ({ bytes, ageMs, isAlone });
const bytesOf = (requests: readonly (readonly { bytes: number }[])[]) =>
  requests.map((request) => request.map(({ bytes }) => bytes));

test('a request is full at the maximum number of events, and the rest waits', () => {
  const packed = pack(
    [1, 2, 3, 4].map((bytes) => due(bytes, { ageMs: 400 })),
    limits,
  );
  expect(bytesOf(packed.requests)).toEqual([[1, 2, 3]]);
  expect(packed).toMatchObject({ waitMs: 600, isFull: false });
});

test('a request is full at the maximum number of bytes, including brackets and commas', () => {
  // [49,48]: 49 + 48 + 3
  expect(bytesOf(pack([due(49), due(48), due(1)], limits).requests)).toEqual([[49, 48]]);
  expect(bytesOf(pack([due(49), due(49), due(1)], limits).requests)).toEqual([[49]]);
});

test('an event larger than a request is sent alone', () => {
  const old = { ageMs: 1000 };
  expect(bytesOf(pack([due(10), due(500), due(20, old)], limits).requests)).toEqual([[10], [500], [20]]);
});

test('a delivery that has waited long enough is sent with all that wait', () => {
  const packed = pack([due(1, { ageMs: 1000 }), due(2)], limits);
  expect(bytesOf(packed.requests)).toEqual([[1, 2]]);
  expect(packed.waitMs).toBeNull();
  expect(bytesOf(pack([due(1)], { ...limits, maxWaitMs: 0 }).requests)).toEqual([[1]]);
});

test('a delivery marked alone is sent alone, at once, and does not split others', () => {
  const packed = pack([due(1), due(2, { isAlone: true }), due(3), due(4)], limits);
  expect(bytesOf(packed.requests)).toEqual([[2], [1, 3, 4]]);
});

test('packs no more requests than there is room for, and reports that more may be due', () => {
  const packed = pack([due(60), due(60), due(60), due(60)], { ...limits, requests: 2 });
  expect(bytesOf(packed.requests)).toEqual([[60], [60]]);
  expect(packed.isFull).toBe(true);
  expect(pack([due(60), due(60)], { ...limits, requests: 0 })).toMatchObject({ requests: [], isFull: true });
  expect(pack([], limits)).toEqual({ requests: [], waitMs: null, isFull: false });
});

test('reads no more than there is room for, so if all of it is sent more may be due', () => {
  const packed = pack(
    [1, 2, 3, 4, 5, 6].map((bytes) => due(bytes)),
    { ...limits, requests: 2 },
  );
  expect(bytesOf(packed.requests)).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ]);
  expect(packed.isFull).toBe(true);
});
