import { expect, test } from 'vitest';
import { notifyOfFailingChore } from '../../src/app/chore-alerts.ts';
import { type Chore, keepHouse } from '../../src/db/chores.ts';
import { commandsOf, runOn } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { scrape, series } from './support.ts';

const world = useWorld({ settings: { METRICS_PORT: '0' }, own: true });
const machine = useMachine();
const { run } = commandsOf(world, world.api, machine);

const METRIC = 'payhook_chore_failing_since_timestamp_seconds';
const NAME = 'webhook log';

interface Failing {
  readonly name: string;
  readonly since: string;
  readonly message: string;
}
const failing = async (): Promise<Failing[]> => (await world.api.get('/v2/system')).body.failing_chores;

/** Starts a process that runs a chore; returns a function that ends it. */
function startChore(work: () => Promise<unknown>): () => void {
  const { db, log } = world.platform;
  const chore: Chore = { name: NAME, everyMs: 1, run: work };
  return keepHouse([chore], {
    db,
    log,
    firstMs: 0,
    notify: (tx, failing) => notifyOfFailingChore(world.db, tx, failing),
  });
}

/** Makes processes fail at the chore until `holds`. */
async function failUntil(message: string, what: string, holds: () => Promise<unknown>): Promise<void> {
  const stop = startChore(() => Promise.reject(new Error(message)));
  await until(what, holds);
  stop();
}

const notices = () =>
  world.query<{ account: string; line: string }>(
    `select public_id('acc', account_id) as account, data ->> 'name' as line from notices where kind = 'chore_failing'`,
  );
const doctor = async () => {
  const { stdout, code } = await runOn(machine)(['doctor', '--json'], { env: await settingsOf(world) });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string; detail: string }[] };
  return { code, chores: checks.find(({ name }) => name === 'chores') };
};

test('a chore that keeps failing is shown everywhere, reported once after an hour, and over when a process has done it', async () => {
  const other = await world.otherAccount();
  for (const api of [world.api, other]) {
    const channel = {
      name: 'ops',
      format: 'slack',
      url: 'https://hooks.slack.com/x',
      kinds: ['chore_failing'],
    };
    expect((await api.post('/v2/alert-channels', channel)).status).toBe(201);
  }
  expect(await failing()).toEqual([]);
  expect((await doctor()).chores).toMatchObject({ status: 'ok', detail: 'none is failing' });

  await failUntil('no room left', 'the failure to be noted', async () => (await failing()).length > 0);
  const [first] = await failing();
  expect(first).toMatchObject({ name: NAME, message: 'no room left' });
  expect((await doctor()).chores).toEqual({
    name: 'chores',
    status: 'warning',
    detail: `${NAME} has failed since ${first?.since}: no room left`,
  });
  expect((await run('status')).stdout).toMatch(/Chores +.*webhook log has failed for .*: no room left/);
  expect((await run('system')).stdout).toContain('webhook log has failed since');
  expect(await notices()).toEqual([]);

  // an hour later, another process fails too
  await world.query(
    `update server_settings set value = (value::jsonb || jsonb_build_object('since', iso(now() - interval '61 minutes')))::text
     where key = 'failing chore ${NAME}'`,
  );
  await failUntil('a lock', 'people to be notified', async () => (await notices()).length > 0);
  await failUntil(
    'another lock',
    'the next reason',
    async () => (await failing())[0]?.message === 'another lock',
  );
  const { id } = (await world.api.get('/v2/account')).body;
  expect(await notices()).toEqual([{ account: id, line: NAME }]);
  expect(await doctor()).toMatchObject({ code: 1, chores: { status: 'failed' } });
  const since = Date.parse((await failing())[0]?.since ?? '') / 1000;
  await until('the metric', async () => {
    const shown = series(await scrape(world), METRIC);
    return shown[`${METRIC}{chore="${NAME}"}`] === since;
  });

  const stop = startChore(async () => undefined);
  await until('the chore to be done', async () => (await failing()).length === 0);
  stop();
  expect((await doctor()).chores).toMatchObject({ status: 'ok' });
  await until('the metric to be gone', async () => {
    return Object.keys(series(await scrape(world), METRIC)).length === 0;
  });
});
