import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/here.ts';
import { useMachine } from '../cli/support.ts';
import { sharedDatabase } from '../faults/support-shared.ts';

const NEW = 'the new secret key, long enough for the rule';

const machine = useMachine();
let database: Awaited<ReturnType<typeof sharedDatabase>>;
let key: string;
beforeAll(async () => {
  database = await sharedDatabase({ cell: 1 });
  key = database.secretKey;
});
afterAll(() => database.drop());

const tryTo = (...args: string[]) => {
  const env = { DATABASE_URL: database.url, SECRET_KEY: key, DATA_DIR: machine.folder };
  return runHere([...args, '--json'], { env, cwd: machine.folder });
};
const run = async (...args: string[]) => {
  const ran = await tryTo(...args);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran.json();
};
const problems = async () => {
  const { data } = await run('cells', 'list');
  return data.map(({ problem }: { problem: string | null }) => problem);
};

test('a lost secret key is abandoned in every cell, and in a cell whose URL was lost once the URL is set again', async () => {
  const url = `${database.url}&application_name=another`;
  await run('cells', 'add', url, '--schema', 'cell_', '--count', '1');
  const made: { shop: string; id: string; secret: string }[] = [];
  for (const cell of [1, 2]) {
    const shop = `Shop ${cell}`;
    await run('accounts', 'create', '--name', shop, '--cell', String(cell));
    const { id } = await run('--account', shop, 'webhooks', 'create', 'https://example.com/hook');
    made.push({ shop, id, secret: (await run('--account', shop, 'webhooks', 'secret', id)).secret });
  }
  const [one, two] = made.map(({ id }) => ({ id, new_secret: true }));

  key = NEW;
  expect(await run('secret-key', 'abandon', '--yes')).toMatchObject({
    endpoints: [expect.objectContaining(one)],
    lost_cells: [2],
  });
  expect(await problems()).toEqual([null, null, expect.stringContaining('its URL cannot be decrypted')]);

  await run('cells', 'set-url', '2', url);
  expect(await problems()).toEqual([null, null, expect.stringContaining('SECRET_KEY is not the key')]);
  expect(await run('secret-key', 'abandon', '--yes')).toMatchObject({
    endpoints: [expect.objectContaining(two)],
    lost_cells: [],
  });
  expect(await problems()).toEqual([null, null, null]);
  for (const { shop, id, secret } of made) {
    const now = (await run('--account', shop, 'webhooks', 'secret', id)).secret;
    expect(now).toMatch(/^whsec_/);
    expect(now).not.toBe(secret);
  }
  expect(await tryTo('secret-key', 'abandon', '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the secret key is not lost'),
  });
});

test('the URL of a cell is changed only to a place that holds this cell', async () => {
  const before = (await run('cells', 'list')).data;
  const refuse = async (code: number, message: string, ...args: string[]) =>
    expect(await tryTo('cells', 'set-url', ...args)).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  await refuse(2, 'must begin with postgres:// or postgresql://', '2', 'mysql://localhost/x');
  await refuse(1, 'cell 0 holds the directory', '0', database.url);
  await refuse(1, 'there is no cell 9', '9', database.url);
  const other = await sharedDatabase({ isEmpty: true });
  await refuse(1, 'the schema cell_2 there has no tables of Payhook', '2', other.url);
  await refuse(1, 'there has no tables of Payhook', '2', database.url, '--listen-url', other.url);
  await refuse(2, '--listen-url must begin with postgres://', '2', database.url, '--listen-url', 'http://x');
  await other.drop();
  expect((await run('cells', 'list')).data).toEqual(before);
});
