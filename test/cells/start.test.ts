import { expect, test } from 'vitest';
import { dataFolder } from '../faults/support-server.ts';
import { longRun } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { command } from './support.ts';

longRun.test(
  'a server serves the cells of CELLS only, and does not start while an account is in two of them',
  async () => {
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

      await folder.query(`insert into cell_1.accounts (id, name) select id, name from accounts`);
      await server.signal('SIGTERM');
      await expect(folder.start()).rejects.toThrow(/is in cell 0 and in cell 1/);
    } finally {
      folder.remove();
    }
  },
);

test('a server does not start on a database that is another cell than 0', async () => {
  const folder = dataFolder();
  try {
    const server = await folder.start();
    await folder.query(`insert into server_settings (key, value) values ('cell_number', '1')`);
    await server.signal('SIGTERM');
    await expect(folder.start()).rejects.toThrow('this database is cell 1: DATABASE_URL must be cell 0');
  } finally {
    folder.remove();
  }
});
