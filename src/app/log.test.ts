import fs from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { readConfig } from '../kernel/config.ts';
import { createLog } from './log.ts';

afterEach(() => vi.restoreAllMocks());

test('the lines of one turn are one write, and nothing waits for the disk', async () => {
  const fsync = vi.spyOn(fs, 'fsyncSync');
  const write = vi.spyOn(fs, 'writeSync').mockImplementation((_, text) => Buffer.byteLength(String(text)));
  const log = createLog({ ...readConfig({}), logLevel: 'info' });

  log.info('first');
  log.info('second');
  expect(write).not.toHaveBeenCalled();
  await turn();
  await turn();

  const [[, text] = [], ...more] = write.mock.calls;
  expect(
    String(text)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).msg),
  ).toEqual(['first', 'second']);
  expect(more).toEqual([]);
  expect(fsync).not.toHaveBeenCalled();
});
