import { expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { processesOf, shareOf } from './processes.ts';

const EXTERNAL = { DATABASE_URL: 'postgres://a/b', SECRET_KEY: 'k'.repeat(32) };

test.each([
  ['one on a machine with two cores', {}, 2, 1],
  ['one for every second core next to the embedded PostgreSQL', {}, 6, 3],
  ['one for each core with an external PostgreSQL', EXTERNAL, 6, 6],
  ['eight at most', EXTERNAL, 64, 8],
  ['no more than a limit can be divided among', { ...EXTERNAL, MAX_UPLOADS: '3' }, 64, 3],
  ['as many as PROCESSES says', { PROCESSES: '5' }, 2, 5],
])('a server has %s', (_, settings, cores, count) => {
  expect(processesOf(readConfig(settings), cores)).toBe(count);
});

test('the parts of the processes add up to each limit', () => {
  const config = readConfig({ PROCESSES: '3', MAX_CONNECTIONS: '100', DATABASE_CONNECTIONS: '50' });
  const parts = [0, 1, 2].map((index) => shareOf(config, index, 3));
  expect(parts.map(({ http }) => [http.connections, http.perAddress, http.uploads])).toEqual([
    [34, undefined, 3],
    [33, undefined, 3],
    [33, undefined, 2],
  ]);
  expect(parts.map(({ databaseConnections }) => databaseConnections)).toEqual([17, 17, 16]);
  expect(parts.map(({ databasePoolSize }) => databasePoolSize)).toEqual([4, 3, 3]);
  expect(parts.map(({ delivery }) => delivery.concurrency)).toEqual([86, 85, 85]);
});

test('a limit that is smaller than the number of processes is refused', () => {
  expect(() => readConfig({ PROCESSES: '4', MAX_UPLOADS: '2', DATABASE_CONNECTIONS: '30' })).toThrow(
    'DATABASE_CONNECTIONS must be at least 40 with PROCESSES=4, which share it\n' +
      '  MAX_UPLOADS must be at least 4 with PROCESSES=4, which share it',
  );
});
