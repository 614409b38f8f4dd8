import { expect, inject, test } from 'vitest';
import { dataFolder } from '../faults/support-server.ts';
import { sharedDatabase } from '../faults/support-shared.ts';
import { apiOf } from '../support/api.ts';
import { urlOf } from '../support/database-url.ts';
import { longRun } from '../support/depth.ts';
import { latencyProxy } from '../support/latency.ts';
import { until } from '../support/wire.ts';
import { command } from './support.ts';

longRun.test('a server serves the cells of CELLS only', async () => {
  const folder = dataFolder({ settings: { CELLS: '1' } });
  try {
    const server = await folder.start();
    await command(folder, 'cells', 'add', '--schema', 'cell_', '--count', '2');
    const keyIn = async (cell: number) => {
      await command(folder, 'accounts', 'create', '--name', `Shop ${cell}`, '--cell', String(cell));
      const made = await command(
        folder,
        'keys',
        'create',
        '--account',
        `Shop ${cell}`,
        '--name',
        'till',
        '--json',
      );
      return (JSON.parse(made) as { key: string }).key;
    };
    const [one, two] = [await keyIn(1), await keyIn(2)];
    const ask = (key: string) =>
      fetch(`${server.url}/v2/account`, { headers: { authorization: `Bearer ${key}` } });
    await until('the server to serve cell 1', async () => (await ask(one)).status === 200);
    const refused = await ask(two);
    expect([refused.status, refused.headers.get('payhook-reason')]).toEqual([503, 'cell_unavailable']);
    expect(await refused.text()).toContain('cell 2 is not served by this process (CELLS)');
    expect((await server.api.get('/v2/account')).status).toBe(200);
  } finally {
    folder.remove();
  }
});

test('a server does not start while an account is in two cells, nor if DATABASE_URL is another cell than 0', async () => {
  const database = await sharedDatabase({ cell: 1 });
  const folder = dataFolder({ database });
  try {
    await folder.query('insert into cell_1.accounts (id, name) select id, name from public.accounts');
    await expect(folder.start()).rejects.toThrow(/the account acc_\w+ is in cell 0 and in cell 1/);
    await folder.query(`do $$ begin
      execute format('alter database %I set search_path = cell_1', current_database()); end $$`);
    await expect(folder.start()).rejects.toThrow('this database is cell 1: DATABASE_URL must be cell 0');
  } finally {
    await folder.remove();
    await database.drop();
  }
});

test('a server that starts while a cell is down serves the others, and this one once it is back', async () => {
  const { host, port, user, password, templates } = inject('postgres');
  const proxy = await latencyProxy({ host, port }, 0);
  const database = await sharedDatabase({ cell: 1 });
  const at = { host: '127.0.0.1', port: proxy.port, user, password };
  const through = urlOf({ ...at, database: String(database.superuser.database) });
  const folder = dataFolder({ database });
  const settings = { DATABASE_URL: database.url, SECRET_KEY: database.secretKey };
  const run = (...args: string[]) => command({ path: folder.path, settings }, ...args);
  try {
    await run('cells', 'set-url', '1', through);
    proxy.refusing = true;
    const server = await folder.start();
    const there = () => server.api.get('/v2/account');
    expect((await there()).status).toBe(503);
    expect((await apiOf(server.url, templates[0].key).get('/v2/account')).status).toBe(200);
    proxy.refusing = false;
    await until('the server to serve the cell', async () => (await there()).status === 200);
  } finally {
    await folder.remove();
    await database.drop();
    await proxy.close();
  }
});
