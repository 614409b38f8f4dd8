import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DataFolder, dataFolder, type ServerProcess } from '../faults/support-server.ts';
import { plainEnvironment } from '../support/environment.ts';
import { until } from '../support/wire.ts';
import { command, PROGRAM } from './support.ts';

let folder: DataFolder;
let server: ServerProcess;
beforeAll(async () => {
  folder = dataFolder();
  server = await folder.start();
});
afterAll(() => folder?.remove());

test('a command that adds cells and is killed can be repeated; the running server then serves them', async () => {
  const adding = spawn(
    process.execPath,
    [PROGRAM, 'cells', 'add', '--schema', 'cell_', '--count', '4', '--data-dir', `${folder.path}/data`],
    { env: plainEnvironment(), stdio: 'ignore' },
  );
  const isBegun = async () => {
    const [row] = await folder.query<{ n: number }>(
      `select count(*)::int as n from pg_namespace where nspname in ('cell_2', 'cell_3')`,
    );
    return (row?.n ?? 0) > 0;
  };
  await until('the second cell to be made', isBegun);
  adding.kill('SIGKILL');
  await once(adding, 'close');

  const output = await command(folder, 'cells', 'add', '--schema', 'cell_', '--count', '2', '--json');
  const numbers = (JSON.parse(output) as { data: { number: number }[] }).data.map(({ number }) => number);
  // what was entered before the kill stays; no number is left out
  const listed = await folder.query<{ number: number }>('select number from cells order by number');
  expect(listed.map(({ number }) => number)).toEqual(
    Array.from({ length: numbers.at(-1) ?? 0 }, (_, index) => index + 1),
  );

  await command(folder, 'accounts', 'create', '--name', 'Shop', '--cell', '1');
  const key = await command(folder, 'keys', 'create', '--account', 'Shop', '--name', 'till', '--json');
  const authorization = `Bearer ${(JSON.parse(key) as { key: string }).key}`;
  await until('the running server to serve the cell', async () => {
    const answer = await fetch(`${server.url}/v2/account`, { headers: { authorization } });
    return answer.status === 200;
  });
});
