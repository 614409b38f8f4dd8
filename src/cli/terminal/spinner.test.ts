import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSpinner } from './spinner.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A spinner, what a terminal's line shows of it, and something to wait for. */
function watching() {
  let line = '';
  const spinner = createSpinner((text) => {
    line = text.split('\r\u001B[K').at(-1) ?? '';
  });
  let finish: () => void = () => undefined;
  spinner.watch(
    new Promise((resolve) => {
      finish = resolve;
    }),
  );
  return { spinner, line: () => line, finish: () => finish() };
}

test('what takes no longer than a second shows nothing', async () => {
  const { line, finish } = watching();
  await vi.advanceTimersByTimeAsync(999);
  expect(line()).toBe('');
  finish();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(line()).toBe('');
});

test('what takes longer shows for how long, and leaves nothing behind', async () => {
  const { line, finish } = watching();
  await vi.advanceTimersByTimeAsync(3200);
  expect(line()).toMatch(/^. waiting for the server, 3 s$/u);
  finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(line()).toBe('');
  expect(vi.getTimerCount()).toBe(0);
});

test('it makes room for a line of output, and for a progress bar as long as there is one', async () => {
  const { spinner, line } = watching();
  await vi.advanceTimersByTimeAsync(1500);
  spinner.clear();
  expect(line()).toBe('');
  await vi.advanceTimersByTimeAsync(100);
  expect(line()).toContain('waiting');
  const release = spinner.hold();
  expect(line()).toBe('');
  await vi.advanceTimersByTimeAsync(5000);
  expect(line()).toBe('');
  release();
  await vi.advanceTimersByTimeAsync(100);
  expect(line()).toContain('6 s');
});

test('it says what is waited for, and again that it is the server when that is over', async () => {
  const { spinner, line } = watching();
  let megabytes = 0;
  let finish: () => void = () => undefined;
  const received = new Promise<void>((resolve) => {
    finish = resolve;
  });
  spinner.watch(received, () => `payout-1.csv, ${megabytes} MB`);
  await vi.advanceTimersByTimeAsync(1500);
  expect(line()).toContain('payout-1.csv, 0 MB, 1 s');
  megabytes = 7;
  await vi.advanceTimersByTimeAsync(1000);
  expect(line()).toContain('payout-1.csv, 7 MB, 2 s');
  finish();
  await vi.advanceTimersByTimeAsync(100);
  expect(line()).toContain('waiting for the server, 2 s');
});
