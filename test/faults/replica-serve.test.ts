import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/here.ts';
import { urlOf } from '../support/database-url.ts';
import { type Pair, startPair } from '../support/replica.ts';
import { until } from '../support/wire.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

// one after the other, on the server of the first
let pair: Pair;
let folder: DataFolder;
let server: ServerProcess;
let env: Record<string, string>;
beforeAll(async () => {
  pair = await startPair({ synchronous: false, settings: { fsync: 'off', hot_standby_feedback: 'on' } });
  const [url, replica] = [pair.primary.connection, pair.replica.connection].map(urlOf) as [string, string];
  const secretKey = 'a secret key for tests, long enough for the rule';
  const { database } = pair.primary.connection;
  folder = dataFolder({
    settings: { DATABASE_REPLICA_URL: replica },
    database: { url, secretKey, superuser: { ...pair.primary.superuser, database } },
  });
  // Vitest sets a BASE_URL of its own
  const own = { DATA_DIR: folder.path, BASE_URL: '' };
  env = { DATABASE_URL: url, DATABASE_REPLICA_URL: replica, SECRET_KEY: secretKey, ...own };
});
afterAll(async () => {
  await folder?.remove();
  await pair?.close();
});

/** Waits until the server reports this about the replica; returns the report. */
const replica = (wanted: { is_used: boolean; problem: RegExp | null }) =>
  until(`the replica to be reported as ${JSON.stringify(wanted.is_used)}`, async () => {
    const { replica } = (await server.api.get('/v2/system')).body;
    const isSo = wanted.problem === null ? replica.problem === null : wanted.problem.test(replica.problem);
    return isSo && replica.is_used === wanted.is_used ? replica : null;
  });
const doctor = async () => {
  const { checks } = (await runHere(['doctor', '--json'], { env })).json();
  return checks.find(({ name }: { name: string }) => name === 'replica');
};

test('payhook serve starts on an empty database and reads from the replica that its settings name', async () => {
  server = await folder.start();
  expect(await replica({ is_used: true, problem: null })).toMatchObject({ problem: null, lag_ms: 0 });
  expect(server.log()).toContain('the replica is in use');
  // a busy machine may be late for a moment, but the tables were waited for
  expect(server.log()).not.toContain('does not exist');
  const { body } = await server.api.post('/v2/affiliates', { email: 'a@example.com' });
  expect((await server.api.get('/v2/affiliates')).body.data).toMatchObject([{ id: body.id }]);
  expect(await doctor()).toMatchObject({ status: 'ok', detail: 'up to date' });
});

test('while the replica is behind, the server and doctor show how far; then it is read again', async () => {
  await pair.query('replica', 'select pg_wal_replay_pause()');
  const { body } = await server.api.post('/v2/affiliates', { email: 'b@example.com' });
  expect((await server.api.get('/v2/affiliates?email=b@example.com')).body.data).toMatchObject([body]);
  const status = await replica({ is_used: false, problem: /does not have what the primary has$/ });
  expect(status.lag_bytes).toBeGreaterThan(0);
  expect(await doctor()).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(
      /^the replica does not have .* and is [1-9]\d* bytes of WAL behind; the primary/,
    ),
  });
  await pair.query('replica', 'select pg_wal_replay_resume()');
  await replica({ is_used: true, problem: null });
});

test('a dead replica stops no server: the server reports it, answers, and stops on SIGTERM', async () => {
  await pair.killReplica();
  const status = await replica({ is_used: false, problem: /cannot be reached|does not answer/ });
  expect(status).toMatchObject({ lag_ms: null, lag_bytes: null });
  expect((await server.api.get('/v2/affiliates')).body.data).toMatchObject([
    { email: 'b@example.com' },
    { email: 'a@example.com' },
  ]);
  expect(await doctor()).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(
      /^the replica (cannot be reached|does not answer).*; the primary is used instead$/,
    ),
  });
  expect((await server.signal('SIGTERM')).code).toBe(0);
});
