import { existsSync, readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addCells } from '../../src/cells/manage.ts';
import { runHere } from '../cli/here.ts';
import { settingsOf, useMachine } from '../cli/support.ts';
import { scrape } from '../operations/support.ts';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

const machine = useMachine();

/** Runs a test on a world with two cells besides 0, and an account with a key in cell 1. */
async function onCells(
  work: (world: World, run: (...args: string[]) => ReturnType<typeof runHere>) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const world = await borrowWorld({ own: true, settings });
  try {
    const { platform } = world;
    await addCells(platform, { url: null, schema: 'cell_', count: 2 });
    await platform.accounts.create('Shop', 1);
    const env = { ...(await settingsOf(world)), DATA_DIR: machine.folder, BASE_URL: '', ...settings };
    await work(world, (...args) => runHere([...args, '--json'], { env, cwd: machine.folder }));
  } finally {
    await world.close();
  }
}

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

test('doctor lists every cell, and names an account that the directory does not know or that is in two cells', () =>
  onCells(async (world, run) => {
    const examine = async () => {
      const { checks } = (await run('doctor')).json() as { checks: Check[] };
      return Object.fromEntries(checks.map((check) => [check.name, check]));
    };
    const good = await examine();
    expect(good['cell 1']).toMatchObject({ status: 'ok', detail: expect.stringContaining('schema cell_1') });
    expect(good['cell 2']).toMatchObject({ status: 'ok', detail: expect.stringContaining('open') });
    expect(good.directory?.status).toBe('ok');

    await world.query('delete from account_cells');
    expect((await examine()).directory).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/acc_\w+ is in cell 1, but the directory does not know it/),
    });
    const [{ id }] = (await world.query<{ id: string }>('select id from cell_1.accounts')) as [
      { id: string },
    ];
    await world.query(`insert into cell_2.accounts select * from cell_1.accounts`);
    expect((await examine()).directory).toMatchObject({
      status: 'failed',
      detail: expect.stringMatching(/acc_\w+ is in cell 1 and in cell 2/),
    });
    await world.query(`delete from cell_2.accounts where id = $1`, [id]);
    await world.query(`update cell_2.server_settings set value = '7' where key = 'cell_number'`);
    expect((await examine())['cell 2']).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('the database is cell 7, not cell 2'),
    });
  }));

test('/readyz stays 200 and names a cell that cannot be used, and the metrics say so with the label cell', () =>
  onCells(
    async (world) => {
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
    },
    { METRICS_PORT: '0' },
  ));

test('accounts list names the cell of each account, and accounts export finds it', () =>
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
  }));

test('a rotation of the secret key refuses to begin while a cell cannot be used, and names it', () =>
  onCells(async (world, run) => {
    const settings = () =>
      world.query(`select key, value from server_settings where key like 'secret_key%' order by key`);
    const before = await settings();
    await world.query(`update cell_2.server_settings set value = '7' where key = 'cell_number'`);
    expect(await run('secret-key', 'rotate')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cell 2 cannot be used'),
    });
    expect(await settings()).toEqual(before);
  }));

test('a rotation of the secret key ends in every cell: what they sealed opens under the new key alone', async () => {
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
});

test('a backup writes a file for each cell, and is restored into that cell only', () =>
  onCells(async (world, run) => {
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
    await world.platform.cells.of(1)?.close();
    await world.query('drop schema cell_1 cascade');
    const restored = await run('restore', shop, '--cell', '1');
    expect(restored, restored.stderr).toMatchObject({ code: 0 });
    expect(await world.query('select name from cell_1.accounts')).toEqual([{ name: 'Shop' }]);
  }));
