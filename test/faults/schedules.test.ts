import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { eventsOf, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { settingsOf } from '../support/database-url.ts';
import { someOf } from '../support/depth.ts';
import { plainEnvironment } from '../support/environment.ts';
import { borrowWorld } from '../support/pool.ts';
import type { World } from '../support/world.ts';

const SCRIPT = fileURLToPath(new URL('schedules-child.mjs', import.meta.url));
const SCHEDULES = '/v2/affiliates/payout-schedules';
const folder = mkdtempSync(join(tmpdir(), 'payhook-schedules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process that runs what is due, through the latency of the world's database. */
async function startRunner(world: World): Promise<ChildProcess> {
  const settings = await settingsOf(world, { host: '127.0.0.1', port: world.latency?.port ?? 0 });
  return spawn(process.execPath, [SCRIPT], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...plainEnvironment(), HOME: tmpdir(), DATA_DIR: folder, ...settings, LOG_LEVEL: 'warn' },
  });
}

const MOMENTS = [
  ['before the next day is stored', /update payout_schedules set last_on/, 0],
  ['before the payout is made', /insert into payouts/, 0],
  ['before its event is published', /payout\.created/, 0],
  ['after all of it, when the process asks for the next one', /for update of s skip locked/, 1],
] as const;
test.each(someOf(MOMENTS, 1))(
  'kill -9 %s: the payout of the day is prepared once',
  async (_, moment, prepared) => {
    const world = await borrowWorld({ databaseLatencyMs: 10 });
    const made = async () => ({
      payouts: (await world.query('select 1 from payouts')).length,
      events: (await eventsOf(world, world.api, 'payout.created')).length,
      audited: (await world.query(`select 1 from audit_log where action = 'runPayoutSchedule'`)).length,
      due: (await world.query('select 1 from payout_schedules where next_on <= current_date')).length,
    });
    const all = (number: number) => ({ payouts: number, events: number, audited: number, due: 1 - number });
    let runner: ChildProcess | undefined;
    try {
      const { id } = await makeAffiliate(world.api, { paypal_email: 'p@example.com' });
      await makeCommission(world.api, id, { currency: 'usd', amount: 700 });
      const body = { name: 'monthly', every: 'month', day: 1 };
      expect((await world.api.post(SCHEDULES, body)).status).toBe(201);
      await world.query('update payout_schedules set next_on = current_date');
      const { latency } = world;
      if (!latency) throw new Error('the world has latency');
      const child = await startRunner(world);
      runner = child;
      const closed = once(child, 'close');
      let seen = 0;
      latency.before = (message) => {
        if (!moment.test(message.toString('latin1'))) return undefined;
        seen += 1;
        // the first look finds the schedule, the second nothing more
        if (seen <= prepared) return undefined;
        child.kill('SIGKILL');
        return closed.then(() => undefined);
      };
      const [, signal] = await closed;
      latency.before = undefined;
      expect(signal).toBe('SIGKILL');
      await world.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where state = 'idle in transaction'
         and datname = current_database()`,
      );
      expect(await made()).toEqual(all(prepared));
      // the servers after it
      await Promise.all([1, 2].map(() => keepHouse(world, 'payout schedules')));
      await keepHouse(world, 'payout schedules');
      expect(await made()).toEqual(all(1));
      expect((await world.api.get(`${PAYOUTS}/current`)).body).toMatchObject({
        amount: 700,
        commission_count: 1,
      });
    } finally {
      runner?.kill('SIGKILL');
      await world.close();
    }
  },
);
