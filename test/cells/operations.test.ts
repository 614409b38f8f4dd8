import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { notifyOfFailingChore } from '../../src/app/chore-alerts.ts';
import { choresOf } from '../../src/app/chores.ts';
import { keepHouse } from '../../src/db/chores.ts';
import { expectRefusal } from '../api/fixtures.ts';
import { emptyDatabase } from '../cli/backup-support.ts';
import { runHere } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import { scrape } from '../operations/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { isLong, longRun } from '../support/depth.ts';
import { type LatencyProxy, latencyProxy } from '../support/latency.ts';
import { makeEndpoint } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { accountIn, addCellsTo, borrowCells, queryIn, urlOfWorld } from './support.ts';

const machine = useMachine();

const schedule = () => ({ BACKUP_EVERY: '24h', BACKUP_TO: join(machine.folder, 'scheduled') });

type Run = (...args: string[]) => ReturnType<typeof runHere>;

/** A world with two cells besides 0, an account in cell 1, and what runs commands there. */
async function makeCells(
  settings: Readonly<Record<string, string>> = {},
  proxyPort?: number,
): Promise<{ world: World; run: Run }> {
  const world = await borrowCells({ settings }, proxyPort);
  await world.platform.accounts.create('Shop', 1);
  const env = { ...(await settingsOf(world)), DATA_DIR: machine.folder, BASE_URL: '', ...settings };
  return { world, run: (...args) => runHere([...args, '--json'], { env, cwd: machine.folder }) };
}

/** Runs a test of a long run on a world of its own with two cells besides 0. */
async function onCells(work: (world: World, run: Run) => Promise<void>): Promise<void> {
  const { world, run } = await makeCells();
  try {
    await work(world, run);
  } finally {
    await world.close();
  }
}

/** Two cells that the tests share, each of which restores what it broke; the last ones lose a cell. */
let world: World;
let run: Run;
beforeAll(async () => {
  ({ world, run } = await makeCells({ ...schedule(), METRICS_PORT: '0' }));
});
afterAll(() => world?.close());

const setCell = (cell: number, number: number) =>
  queryIn(world, cell, `update server_settings set value = $1 where key = 'cell_number'`, [String(number)]);

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

test('doctor lists every cell, and names an account that the directory does not know or that is in two cells', async () => {
  const examine = async () => {
    const { checks } = (await run('doctor')).json() as { checks: Check[] };
    return Object.fromEntries(checks.map((check) => [check.name, check]));
  };
  const good = await examine();
  expect(good['cell 1']).toMatchObject({ status: 'ok', detail: expect.stringContaining('schema cell_1') });
  expect(good['cell 2']).toMatchObject({ status: 'ok', detail: expect.stringContaining('open') });
  expect(good.directory?.status).toBe('ok');

  const entered = await world.query<{ account: string; cell: number }>(
    'delete from account_cells returning account_id as account, cell',
  );
  expect((await examine()).directory).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/acc_\w+ is in cell 1, but the directory does not know it/),
  });
  const [{ id }] = (await world.query<{ id: string }>('select id from cell_1.accounts')) as [{ id: string }];
  await world.query(`insert into cell_2.accounts select * from cell_1.accounts`);
  expect((await examine()).directory).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/acc_\w+ is in cell 1 and in cell 2/),
  });
  await world.query(`delete from cell_2.accounts where id = $1`, [id]);
  for (const { account, cell } of entered)
    await world.query('insert into account_cells (account_id, cell) values ($1, $2)', [account, cell]);
  await setCell(2, 7);
  expect((await examine())['cell 2']).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('the database is cell 7, not cell 2'),
  });
  await setCell(2, 2);
});

longRun.test('accounts list names the cell of each account, and accounts export finds it', () =>
  onCells(async (_, run) => {
    const { data } = (await run('accounts', 'list')).json();
    expect(data).toEqual([
      expect.objectContaining({ name: 'Default', cell: 0 }),
      expect.objectContaining({ name: 'Shop', cell: 1 }),
    ]);
    const exported = (await run('accounts', 'export', 'Shop', 'shop-export')).json();
    expect(exported.files).toContainEqual(expect.objectContaining({ name: 'account.jsonl', records: 1 }));
    const { other_cells } = (await run('migrate')).json();
    expect(other_cells).toEqual([
      expect.objectContaining({ cell: 1, applied: [], problem: null }),
      expect.objectContaining({ cell: 2, applied: [], problem: null }),
    ]);
  }),
);

test('a rotation of the secret key refuses to begin while a cell cannot be used, and names it', async () => {
  const settings = () =>
    world.query(`select key, value from server_settings where key like 'secret_key%' order by key`);
  const before = await settings();
  await setCell(2, 7);
  expect(await run('secret-key', 'rotate')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cell 2 cannot be used'),
  });
  expect(await settings()).toEqual(before);
  await setCell(2, 2);
});

longRun.test(
  'a rotation of the secret key ends in every cell: what they sealed opens under the new key alone',
  async () => {
    await machine.init();
    const run = async (...args: string[]) => {
      const ran = await machine.run([...args, '--json']);
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      return ran.json();
    };
    await run('cells', 'add', '--schema', 'cell_', '--count', '1');
    await run('accounts', 'create', '--name', 'Shop', '--cell', '1');
    const endpoint = await run('--account', 'Shop', 'webhooks', 'create', 'https://example.com/hook');
    const rotated = await run('secret-key', 'rotate');
    expect(rotated).toMatchObject({ changed: true, endpoints: 1 });
    expect(readdirSync(machine.dataDir)).not.toContain('secret-key.new');
    expect((await run('migrate')).other_cells).toEqual([expect.objectContaining({ cell: 1, problem: null })]);
    await run('--account', 'Shop', 'webhooks', 'secret', endpoint.id);
  },
);

test('scheduled backups save every cell that is due; one that fails is reported, and the others are saved', async () => {
  const { BACKUP_TO: folder } = schedule();
  await mkdir(folder, { recursive: true });
  const scheduled = async () => {
    // names have seconds, and a backup never overwrites a file
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    return run('backup', '--scheduled');
  };
  const first = (await scheduled()).json();
  expect([first.cell, ...first.other_cells.map(({ cell }: { cell: number }) => cell)]).toEqual([0, 1, 2]);
  expect(readdirSync(folder)).toHaveLength(3);
  expect((await scheduled()).json()).toBeNull();

  await world.query(`delete from cell_1.server_settings where key = 'last_backup'`);
  expect((await scheduled()).json()).toMatchObject({ cell: 1, other_cells: [] });
  expect(readdirSync(folder)).toHaveLength(1);

  for (const schema of ['public', 'cell_1'])
    await world.query(`delete from ${schema}.server_settings where key = 'last_backup'`);
  await setCell(2, 7);
  expect(await scheduled()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cell 2 cannot be used'),
  });
  expect(readdirSync(folder)).toHaveLength(2);
  const { backups } = (await world.api.get('/v2/system')).body;
  expect(backups.failure.message).toContain('cell 2 cannot be used');
  await setCell(2, 2);
});

longRun.test('a chore that fails in another cell is shown with its cell, and cell 0 notifies', async () => {
  world.expectErrors();
  const { platform } = world;
  const db = platform.cells.of(1);
  if (db === null) throw new Error('there is no cell 1');
  const channel = {
    name: 'ops',
    format: 'slack',
    url: 'https://hooks.slack.com/x',
    kinds: ['chore_failing'],
  };
  expect((await world.api.post('/v2/alert-channels', channel)).status).toBe(201);
  await world.query('alter table cell_1.sign_in_failures rename to renamed');
  const chores = choresOf({ ...platform, db }).filter(({ name }) => name === 'sign-in attempts');
  const fail = async (what: string, holds: () => Promise<boolean>) => {
    const stop = keepHouse(chores, {
      db,
      log: platform.log,
      firstMs: 0,
      notify: (tx, failing) => notifyOfFailingChore(platform.db, tx, failing),
    });
    await until(what, holds).finally(stop);
  };
  const failing = async () => (await world.api.get('/v2/system')).body.failing_chores;
  await fail('the failure to be noted', async () => (await failing()).length > 0);
  expect(await failing()).toEqual([
    {
      name: 'sign-in attempts',
      cell: 1,
      since: expect.any(String),
      message: expect.stringContaining('sign_in_failures'),
    },
  ]);
  expect((await run('doctor')).json().checks).toContainEqual(
    expect.objectContaining({ name: 'cell 1: chores', status: 'warning' }),
  );
  await world.query(
    `update cell_1.server_settings set value = (value::jsonb || jsonb_build_object('since', iso(now() - interval '61 minutes')))::text
       where key = 'failing chore sign-in attempts'`,
  );
  const notices = () =>
    world.query(`select data ->> 'name' as name from notices where kind = 'chore_failing'`);
  await fail('the alert', async () => (await notices()).length > 0);
  expect(await notices()).toEqual([{ name: 'sign-in attempts (cell 1)' }]);
  expect(await queryIn(world, 1, 'select from notices')).toEqual([]);
  await world.query('alter table cell_1.renamed rename to sign_in_failures');
});

longRun.test(
  'the state of the installation is shown by commands although two cells accept connections and never answer',
  () =>
    onCells(async (world, run) => {
      world.expectErrors();
      const { host, port } = inject('postgres');
      const proxies = [await latencyProxy({ host, port }, 0), await latencyProxy({ host, port }, 0)];
      for (const { port: at } of proxies) await addCellsTo(world, 1, { url: await urlOfWorld(world, at) });
      for (const proxy of proxies) {
        proxy.silent = true;
        proxy.cut();
      }
      const status = (await run('--account', 'Default', 'status')).json();
      expect(
        status.system.cells.map(({ number, problem }: { number: number; problem: string }) => [
          number,
          problem,
        ]),
      ).toEqual([
        [0, null],
        [1, null],
        [2, null],
        [3, 'cannot be reached'],
        [4, 'cannot be reached'],
      ]);
      const { checks } = (await run('doctor')).json() as { checks: Check[] };
      for (const name of ['cell 3', 'cell 4']) {
        expect(checks.find((each) => each.name === name)).toMatchObject({ status: 'failed' });
      }
      for (const proxy of proxies) await proxy.close();
    }),
);

test('/readyz stays 200 and names a cell that cannot be used, and the metrics say so with the label cell', async () => {
  const ready = async () => {
    const answer = await fetch(`${world.url}/readyz`);
    return { status: answer.status, body: (await answer.json()) as object };
  };
  expect(await ready()).toEqual({ status: 200, body: { status: 'ready' } });
  const text = await scrape(world);
  expect(text).toContain('payhook_database_up 1');
  expect(text).toContain('payhook_database_up{cell="1"} 1');
  expect(text).toContain('payhook_database_pool_size{pool="reading"}');
  await world.platform.cells.of(2)?.close();
  expect(
    await until('the cell to be named', async () => {
      const now = await ready();
      return 'unavailable_cells' in now.body ? now : null;
    }),
  ).toEqual({
    status: 200,
    body: { status: 'ready', unavailable_cells: [{ cell: 2, problem: 'cannot be reached' }] },
  });
});

test('a backup writes a file for each cell, and is restored into that cell only', async () => {
  const folder = join(machine.folder, 'backups');
  await mkdir(folder);
  const file = await run('backup', join(machine.folder, 'one.payhook'));
  expect(file).toMatchObject({ code: 1, stderr: expect.stringContaining('there are 3 cells') });
  expect(existsSync(join(machine.folder, 'one.payhook'))).toBe(false);
  const saved = (await run('backup', folder)).json();
  expect([saved.cell, ...saved.other_cells.map(({ cell }: { cell: number }) => cell)]).toEqual([0, 1, 2]);
  expect(readdirSync(folder)).toHaveLength(3);

  const shop = saved.other_cells[0].file as string;
  expect(await run('restore', shop)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is a backup of cell 1, not of cell 0: restore it with --cell 1'),
  });
  expect(await run('restore', shop, '--cell', '2')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is a backup of cell 1, not of cell 2'),
  });
  expect(await run('restore', shop, '--cell', '1')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is not empty'),
  });
  if (!isLong) return; // the test of a cell whose PostgreSQL is gone restores one
  await world.platform.cells.of(1)?.close();
  await world.query('drop schema cell_1 cascade');
  const restored = await run('restore', shop, '--cell', '1');
  expect(restored, restored.stderr).toMatchObject({ code: 0 });
  expect(await world.query('select name from cell_1.accounts')).toEqual([{ name: 'Shop' }]);
});

describe('with a cell behind a proxy', () => {
  let world: World;
  let run: Run;
  let proxy: LatencyProxy;
  beforeAll(async () => {
    const { host, port } = inject('postgres');
    proxy = await latencyProxy({ host, port }, 0);
    ({ world, run } = await makeCells({}, proxy.port));
  });
  afterAll(async () => {
    await world?.close();
    await proxy.close();
  });

  test('the state of the installation has a row for each cell, sums of all, and the reason why a cell cannot be used', async () => {
    world.expectErrors();
    for (const cell of [1, 2]) {
      const { api } = await accountIn(world, cell);
      await makeEndpoint(api, { event_types: ['order.*'] });
      for (let count = 0; count < cell; count++) {
        expect((await api.post('/v2/events', { type: 'order.created', data: {} })).status).toBe(201);
      }
    }
    const cell = {
      state: 'open',
      problem: null,
      host: null,
      account_count: 1,
      due_count: 0,
      worker_count: 0,
    };
    const [{ version }] = (await world.query<{ version: number }>(
      'select max(version) as version from schema_migrations',
    )) as [{ version: number }];
    const cells = [
      { ...cell, number: 0, schema: null },
      { ...cell, number: 1, schema: 'cell_1', account_count: 2, due_count: 1 },
      { ...cell, number: 2, schema: 'cell_2', host: `localhost:${proxy.port}`, due_count: 2 },
    ].map((each) => ({ ...each, schema_version: version }));
    const { body, text } = await world.api.get('/v2/system');
    expect(body.cells).toEqual(cells);
    expect(body.backlog).toMatchObject({ queued_count: 3, due_count: 3 });
    expect(text).not.toContain('postgres://');
    for (const command of ['system', 'status']) {
      const { stdout } = await run('--account', 'Default', command);
      expect(stdout).toContain(`localhost:${proxy.port}`);
    }
    proxy.refusing = true;
    proxy.cut();
    const { body: later } = await world.api.get('/v2/system');
    expect(later.backlog).toMatchObject({ queued_count: 1, due_count: 1 });
    expect(later.cells[2]).toMatchObject({
      problem: 'cannot be reached',
      schema_version: null,
      account_count: null,
      due_count: null,
      worker_count: null,
    });
    proxy.refusing = false;
    await world.platform.cells.refresh();
  });

  test('a cell whose PostgreSQL is gone is restored into another one by one command, and served there', async () => {
    world.expectErrors();
    const number = '2';
    const { api, id } = await accountIn(world, 2, 'Moved');
    const file = join(machine.folder, 'cell.payhook');
    expect(await run('backup', file, '--cell', number)).toMatchObject({ code: 0 });
    proxy.refusing = true;
    proxy.cut();
    expectRefusal(await api.get('/v2/account'), 503, 'cell_unavailable');

    const other = await emptyDatabase();
    try {
      expect(await run('restore', file, '--url', other.url)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--url needs --cell'),
      });
      expect(await run('restore', file, '--cell', number, '--url', 'db-3.example.com')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--url must begin with postgres://'),
      });
      expect(await run('cells', 'set-url', number, other.url)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`payhook restore FILE --cell ${number} --url URL`),
      });
      const restored = await run('restore', file, '--cell', number, '--url', other.url);
      expect(restored, restored.stderr).toMatchObject({ code: 0 });
      await world.platform.cells.refresh(); // a running server does it when the directory changes
      const account = await api.get('/v2/account');
      expect([account.status, account.body.id]).toEqual([200, id]);
      expect(await run('restore', file, '--cell', number, '--url', other.url)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('is not empty'),
      });
    } finally {
      await world.platform.cells.of(2)?.close();
      await other.drop();
    }
  });
});
