import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';
import { sharedDatabase } from './support-shared.ts';

const prlimit = (...words: string[]) => spawnSync('prlimit', words);
const canLimit = process.platform === 'linux' && prlimit('--version').status === 0;

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).map(Number);

/** The number that the next file of a process gets. */
function nextFile(pid: number): number {
  const open = new Set(filesOf(pid));
  let next = 0;
  while (open.has(next)) next += 1;
  return next;
}

test.skipIf(!canLimit)(
  'a worker without files to open charges no receiver, and delivers once it has some again (needs prlimit)',
  async () => {
    const database = await sharedDatabase();
    const folder = dataFolder({
      database,
      settings: { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_TIMEOUT_MS: '1000', DELIVERY_SCHEDULE: '0s' },
    });
    const receiver = await startReceiver();
    // no connection is kept: each delivery needs a file
    receiver.respond((_request, response) => response.writeHead(200, { connection: 'close' }).end());
    try {
      const server = await folder.start({ DELIVERY_WORKER: 'off' });
      const worker = await folder.startWorker();
      const made = await server.api.post('/v2/webhook-endpoints', {
        url: receiver.url,
        event_types: ['order.*'],
      });
      expect(made.status, made.text).toBe(201);
      const publish = async (count: number) => {
        const event = { type: 'order.created', data: {} };
        const answers = await Promise.all(
          Array.from({ length: count }, () => server.api.post('/v2/events', event)),
        );
        expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(201));
      };
      const batching = await server.api.post('/v2/webhook-endpoints', {
        url: receiver.url,
        event_types: ['batched.*'],
        batch: { max_events: 100, max_wait_ms: 60_000 },
      });
      expect(batching.status, batching.text).toBe(201);
      await publish(20);
      await receiver.until(20);
      const settled = async () => (await folder.query('select 1 from queue')).length === 0;
      await until('all is settled', settled);

      const [, soft = ''] = /(\d+)\s*$/.exec(
        String(
          prlimit('--pid', String(worker.pid), '--nofile', '--noheadings', '--raw', '-o', 'SOFT').stdout,
        ),
      ) ?? ['', ''];
      const limit = (files: number | string) => prlimit('--pid', String(worker.pid), `--nofile=${files}:`);
      const batched = await server.api.post('/v2/events', { type: 'batched.created', data: {} });
      expect(batched.status, batched.text).toBe(201);
      expect(limit(nextFile(worker.pid)).status).toBe(0);
      await folder.query(`update queue set due_at = now() - interval '1 minute'`);
      await until('the worker reports its lack', () => worker.log().includes('EMFILE'));
      // it has waited for its batch, and does not wait again
      const waited = `select due_at <= now() - interval '1 minute' as waited from queue where lease_token is null`;
      expect(await until('it is returned', async () => (await folder.query(waited))[0])).toEqual({
        waited: true,
      });
      await publish(5);
      expect(worker.log()).toContain('no room for more connections');
      expect(receiver.received).toHaveLength(20);
      // with this schedule one charged attempt would be the last one
      const charged = `select error_code from attempts where error_code is not null and error_code <> 'lost'`;
      expect(await folder.query(charged)).toEqual([]);

      expect(limit(soft).status).toBe(0);
      await receiver.until(26);
      await until('all is settled', settled);
      expect(await folder.query(charged)).toEqual([]);
      expect(await folder.query(`select 1 from deliveries where status <> 'delivered'`)).toEqual([]);
      expect(await folder.query('select distinct failures, failing_since from endpoint_state')).toEqual([
        { failures: 0, failing_since: null },
      ]);
      expect((await worker.signal('SIGTERM')).code).toBe(0);
      expect((await server.signal('SIGTERM')).code).toBe(0);
    } finally {
      await folder.remove();
      await receiver.close();
      await database.drop();
    }
  },
  90_000,
);
