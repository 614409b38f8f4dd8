import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { waitingForLocks } from '../support/held.ts';
import { IMBALANCES } from '../support/imbalances.ts';
import { countOfProcesses, isRunning } from '../support/processes.ts';
import { makeAffiliates, type Sale, salesFile, salesFor } from '../support/seed.ts';
import { openWire, until } from '../support/wire.ts';
import { type DataFolder, dataFolder, listens, type ServerProcess } from './support-server.ts';

const PAYOUTS = '/v2/affiliates/payouts';
const COMMISSIONS = '/v2/affiliates/commissions';
const LINES = 20_000;

describe.concurrent('SIGTERM', () => {
  async function withServer(work: (folder: DataFolder, server: ServerProcess) => Promise<void>) {
    // each process has a part of the connections: enough for all requests that wait for a lock
    const folder = dataFolder({ settings: { DATABASE_POOL_SIZE: String(10 * countOfProcesses()) } });
    try {
      await work(folder, await folder.start());
    } finally {
      await folder.remove();
    }
  }

  test('under load answers requests in progress, accepts no new ones, exits 0 and stops PostgreSQL; with SHUTDOWN_DELAY_MS load balancers are informed first, and requests are accepted for that long', () =>
    withServer(async (folder, server) => {
      const sales = salesFor(await makeAffiliates(server.api, 2), 6);
      const lock = await folder.superuser();
      await lock.query('begin; lock table commissions in share mode');
      const answers = sales.map((sale) => server.api.post(COMMISSIONS, sale));
      const waiting = async () => (await waitingForLocks(folder)).length === sales.length;
      await until('all requests are in progress', waiting);
      const exit = server.signal('SIGTERM');
      await until('no new request is accepted', async () => !(await listens(server.url)));
      expect(await waiting()).toBe(true);
      await lock.query('commit');
      await lock.end();
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(201));
      const { code } = await exit;
      expect([code, isRunning(server.postmaster)]).toEqual([0, false]);

      const next = await folder.start({ SHUTDOWN_DELAY_MS: '8000' });
      const delayed = next.signal('SIGTERM');
      await until('it reports that it stops', async () => {
        const answer = await fetch(`${next.url}/readyz`);
        return answer.status === 503 && ((await answer.json()) as { reason: string }).reason === 'stopping';
      });
      expect(await listens(next.url)).toBe(true);
      const list = await next.api.get(COMMISSIONS);
      expect(list.body.pagination.total).toBe(6);
      expect((await makeAffiliates(next.api, 1, 'later')).length).toBe(1);
      const end = await delayed;
      expect([end.code, end.ms >= 8000]).toEqual([0, true]);
    }));

  longRun.test('does not wait for a client that never ends: exit 0, nothing half done', () =>
    withServer(async (folder, server) => {
      const { api, url } = server;
      const sales: Sale[] = salesFor(await makeAffiliates(api, 2), LINES);
      await api.upload(`${COMMISSIONS}/import`, salesFile(sales));
      const { body: payout } = await api.post(PAYOUTS);
      const headers = { authorization: `Bearer ${api.key}` };
      const reader = await openWire(url, 'GET', `${PAYOUTS}/${payout.id}/download`, headers);
      await until('the file has begun', () => reader.received().includes('payout_id,'));
      reader.socket.pause();
      const uploader = await openWire(url, 'POST', `${COMMISSIONS}/import`, {
        ...headers,
        'content-type': 'text/csv',
        'transfer-encoding': 'chunked',
      });
      uploader.chunk(salesFile(salesFor([sales[0]?.affiliate_id ?? 0], 5, 'never')));
      const { code } = await server.signal('SIGTERM');
      expect([code, isRunning(server.postmaster)]).toEqual([0, false]);
      reader.vanish();
      uploader.vanish();
      const next = await folder.start();
      expect((await next.api.get(COMMISSIONS)).body.pagination.total).toBe(LINES);
      expect(await folder.query(IMBALANCES)).toEqual([]);
      expect((await next.signal('SIGTERM')).code).toBe(0);
    }),
  );
});

longRun.test(
  'a server whose own PostgreSQL dies says so and exits, for its supervisor to start it again',
  async () => {
    const folder = dataFolder();
    try {
      const server = await folder.start();
      process.kill(server.postmaster, 'SIGKILL');
      const requests = [
        server.api.post(PAYOUTS).catch(() => null),
        server.api.get(PAYOUTS).catch(() => null),
      ];
      await until('the server has ended', () => !isRunning(server.pid));
      // its last output may leave the pipe after its end
      await until('it reported that', () => server.log().includes('PostgreSQL stopped unexpectedly'));
      await Promise.all(requests);
      const next = await folder.start();
      expect((await next.api.get(PAYOUTS)).status).toBe(200);
    } finally {
      await folder.remove();
    }
  },
);
