import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { rounds } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { expectRefusal, type Json } from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

const NOTHING = { object: 'import_progress', stage: null, lines_read: null };

const progressOf = async (key: string, client = api): Promise<Json> => {
  const answer = await client.get(`/v2/imports/progress?key=${key}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};
const fileOf = (lines: number) =>
  ['email', ...Array.from({ length: lines }, (_, line) => `a${line}@example.com`), ''].join('\n');

/** Sends a file while a table is locked, reads the progress of the request, and then releases the lock. */
async function whileLocked(table: string, path: string, look: (key: string) => Promise<void>): Promise<void> {
  const key = randomUUID();
  await world.query('begin');
  await world.query(`lock table ${table} in access exclusive mode`);
  const sent = api.upload(`${path}progress_key=${key}`, fileOf(3));
  try {
    await look(key);
  } finally {
    await world.query('rollback');
  }
  const { status, text } = await sent;
  expect(status, text).toBe(200);
  expect(await progressOf(key)).toEqual(NOTHING);
}

const reaches = (stage: string) => async (key: string) => {
  await until(`the stage ${stage}`, async () => (await progressOf(key)).stage === stage);
};

test.each([
  ['looking', 'import_mappings', '/v2/imports?kind=affiliates&accept_guesses=true&'],
  ['looking', 'import_mappings', '/v2/imports/preview?kind=affiliates&'],
  ['looking', 'import_mappings', '/v2/imports/bad-lines?kind=affiliates&'],
  ['writing', 'payout_books', '/v2/imports?kind=affiliates&dry_run=true&'],
  ['writing', 'payout_books', '/v2/affiliates/import?'],
])('%s can read the progress of a request that waits for %s: %s', (stage, table, path) =>
  whileLocked(table, path, reaches(stage)),
);

const LINES = rounds(40_000, 100_000);

test('lines are counted while they are read', async () => {
  const key = randomUUID();
  let isDone = false;
  const sent = api
    .upload(`/v2/affiliates/import?dry_run=true&progress_key=${key}`, fileOf(LINES))
    .finally(() => {
      isDone = true;
    });
  const seen: number[] = [];
  while (!isDone) {
    const { stage, lines_read } = await progressOf(key);
    if (stage === 'reading' && lines_read !== null) seen.push(lines_read);
    else expect(lines_read).toBe(null);
  }
  expect((await sent).body).toMatchObject({ lines: LINES, created: LINES });
  expect(Math.max(...seen)).toBeGreaterThan(0);
  expect(Math.max(...seen)).toBeLessThanOrEqual(LINES);
  expect(seen).toEqual([...seen].sort((left, right) => left - right));
});

test('another account or another key learns nothing with the progress key', async () => {
  const other = await world.otherAccount();
  await whileLocked('payout_books', '/v2/affiliates/import?', async (key) => {
    await reaches('writing')(key);
    expect(await progressOf(key, other)).toEqual(NOTHING);
    expect(await progressOf(randomUUID())).toEqual(NOTHING);
  });
});

test('a key has 8 to 64 letters, digits, hyphens and underscores', async () => {
  for (const key of ['', 'short12', 'k'.repeat(65), 'with%20space', '%27%20or%201=1--', 'ключключ']) {
    expectRefusal(await api.get(`/v2/imports/progress?key=${key}`), 400, 'invalid_query', 'key');
    const sent = await api.upload(`/v2/affiliates/import?progress_key=${key}`, fileOf(1));
    expectRefusal(sent, 400, 'invalid_query', 'progress_key');
  }
});
