import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { uuidOf } from '../delivery/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { plainEnvironment } from '../support/environment.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

const DAY_MS = 86_400_000;
const SCRIPT = fileURLToPath(new URL('retention-child.mjs', import.meta.url));
const ROUNDS = 12;
/** More, until a kill has hit the middle of a drop. */
const MOST_ROUNDS = ROUNDS + 8;
const WEEKS = 4;
const OF_A_WEEK = 60;
/** How many days ago the undelivered event happened. */
const STUCK = 500;
const LOG = '/v2/webhook-events/';

const children = new Set<ChildProcess>();
const folder = mkdtempSync(join(tmpdir(), 'payhook-retention-'));
afterEach(async () => {
  await Promise.all([...children].map(kill));
  rmSync(folder, { recursive: true, force: true });
});

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  children.delete(child);
}

interface Dropper {
  begin(): void;
  /** Waits until it has found nothing more to drop, from now on. */
  done(): Promise<void>;
  kill(): Promise<void>;
}

/** Starts a process that drops what is older than 90 days in the database of a world, as soon as it may begin. */
async function startDropper(world: World): Promise<Dropper> {
  const child = spawn(process.execPath, [SCRIPT], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...plainEnvironment(),
      HOME: tmpdir(),
      DATA_DIR: folder,
      ...(await settingsOf(world)),
      LOG_LEVEL: 'warn',
      WEBHOOK_RETENTION_DAYS: '90',
    },
  });
  children.add(child);
  let output = '';
  child.stdout.on('data', (bytes) => {
    output += bytes;
  });
  await until('the process is ready', () => output.includes('ready'));
  return {
    begin: () => void child.stdin.write('begin\n'),
    async done() {
      // the current one may have looked before
      const before = output.split('done').length;
      await until('nothing is left to drop', () => output.split('done').length > before + 1);
    },
    kill: () => kill(child),
  };
}

/** Requests the log repeatedly: each response agrees with itself, and dropped events do not come back. */
function repeatRequests(world: World, young: number, grows: () => void) {
  let busy = true;
  let requests = 0;
  const ask = async () => {
    while (busy) {
      requests += 1;
      const sort = requests % 2 ? '-id' : 'id';
      const status = requests % 3 ? '' : '&status=failed';
      const { status: code, text, body } = await world.api.get(`${LOG}?per_page=100&sort=${sort}${status}`);
      expect(code, text).toBe(200);
      expect(body.data.length).toBe(Math.min(100, body.pagination.total));
      if (status === '') expect(body.pagination.total).toBeGreaterThanOrEqual(young);
      grows();
    }
  };
  const all = Promise.all([ask(), ask()]);
  return async () => {
    busy = false;
    await all;
    return requests;
  };
}

test('kill -9 of processes that drop old weeks, two at once, in a loop, leaves nothing half done: every list agrees with its total all the while', async () => {
  const world = await borrowWorld();
  let stopRequests: () => Promise<number> = async () => 0;
  try {
    const endpoint = uuidOf(await makeEndpoint(world.api));
    const account = uuidOf((await world.api.get('/v2/account')).body.id);
    const at = (days: number, minutes = 0) => eventIdAt(Date.now() - days * DAY_MS + minutes * 60_000);
    const status = (index: number) => (index % 5 === 0 ? ('failed' as const) : ('delivered' as const));
    const ofWeek = (days: number) =>
      Array.from({ length: OF_A_WEEK }, (_, index) => ({
        event: at(days, index),
        endpoint,
        status: status(index),
      }));
    await putIn(world, account, ofWeek(10));
    const stuck = at(STUCK);
    await putIn(world, account, [{ event: stuck, endpoint, status: 'pending' }]);
    const young = OF_A_WEEK + 1;
    let answers = 0;
    let brokenOff = 0;
    const halfDropped = async () => (await world.query('select 1 from dropped_weeks')).length > 0;
    stopRequests = repeatRequests(world, young, () => {
      answers += 1;
    });
    let droppers = [await startDropper(world), await startDropper(world)];
    for (let round = 0; round < ROUNDS || (brokenOff === 0 && round < MOST_ROUNDS); round += 1) {
      const weeks = Array.from({ length: WEEKS }, (_, week) => ofWeek(120 + 7 * (WEEKS * round + week)));
      await putIn(world, account, [...weeks.flat(), ...ofWeek(STUCK).slice(0, 10)]);
      for (const dropper of droppers) dropper.begin();
      // in the middle of a week, and then at any moment: the other one has taken over, or has not
      await until('a week is being dropped', halfDropped);
      await delay(Math.random() * 30);
      await droppers[round % 2]?.kill();
      if (round % 3) await delay(Math.random() * 100);
      await droppers[(round + 1) % 2]?.kill();
      if (await halfDropped()) brokenOff += 1;
      const seen = answers;
      droppers = await Promise.all([startDropper(world), startDropper(world)]);
      await until('lists were answered', () => answers > seen);
    }
    expect(brokenOff).toBeGreaterThan(0);
    for (const dropper of droppers) dropper.begin();
    // a killed process may hold its lock a moment longer, and others skip the work meanwhile
    await until('all old weeks are gone', async () => {
      await Promise.all(droppers.map((dropper) => dropper.done()));
      if ((await world.api.get(`${LOG}?per_page=1`)).body.pagination.total > young) return false;
      // a half-dropped week is in no list, and by now none is begun
      return !(await halfDropped());
    });
    expect(await stopRequests()).toBeGreaterThan(ROUNDS);
    const { body } = await world.api.get(`${LOG}?sort=id&per_page=100`);
    expect([body.pagination.total, body.data[0].id, body.data[0].status]).toEqual([
      young,
      `evt_${stuck.replaceAll('-', '')}`,
      'pending',
    ]);
    expect(await world.query('select * from dropped_weeks')).toEqual([]);
    expect(
      await world.query(
        `select relname from pg_class where relkind = 'r' and relname ~ '_\\d{8}$'
           and to_date(right(relname, 8), 'YYYYMMDD') between current_date - ${STUCK - 100} and current_date - 100`,
      ),
    ).toEqual([]);
    for (const dropper of droppers) await dropper.kill();
  } finally {
    await stopRequests();
    // checks the books, and the log
    await world.close();
  }
});
