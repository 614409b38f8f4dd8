import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { isRunning } from '../support/processes.ts';
import { runOn } from './here.ts';
import { AFFILIATES, COMMISSIONS, postgresPid, type Started, startServer, useMachine } from './support.ts';

const machine = useMachine();
const run = runOn(machine);
let server: Started & { url: string };
beforeAll(() => {
  machine.write('affiliates.csv', AFFILIATES);
  machine.write('commissions.csv', COMMISSIONS);
});

const firstKey = () => readFileSync(join(machine.dataDir, 'first-api-key'), 'utf8').trim();
const get = (path: string, key = firstKey()) =>
  fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });
async function affiliateIds(): Promise<number[]> {
  const payout = (await (await get('/v2/affiliates/payouts/current')).json()) as {
    affiliates: { affiliate_id: number }[];
  };
  return payout.affiliates.map((line) => line.affiliate_id);
}

// One story on one data folder: each test continues where the previous one ended.

test('init creates the database and says where the first key is; a dry run needs no server', async () => {
  const made = await machine.run(['init']);
  expect(made).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`in ${machine.dataDir}/first-api-key\n`),
    stderr: '',
  });
  const ran = await run(['affiliates', 'import', 'affiliates.csv', '--dry-run']);
  expect(ran).toMatchObject({
    code: 0,
    stdout: '3 lines: 3 created, 0 updated, 0 unchanged, 0 bad\nDry run: nothing was written.\n',
    stderr: '',
  });
  expect(made.stdout).not.toContain(firstKey());
  expect(statSync(join(machine.dataDir, 'first-api-key')).mode & 0o777).toBe(0o600);
});

test('files are imported without a server; an earlier dry run left nothing', async () => {
  const affiliates = await run(['affiliates', 'import', 'affiliates.csv', '--json']);
  expect(affiliates.json()).toMatchObject({ lines: 3, created: 3, updated: 0, failed: 0 });
  expect(affiliates).toMatchObject({ code: 0, stderr: '' });

  const dry = await run(['commissions', 'import', 'commissions.csv', '--dry-run', '--json']);
  expect(dry.json()).toMatchObject({ dry_run: true, created: 4, failed: 0 });
  const commissions = await machine.run(['commissions', 'import', '-'], { input: COMMISSIONS });
  expect(commissions.code).toBe(0);
  expect(commissions.stdout).toContain('4 lines: 4 created, 0 unchanged, 0 bad');
  expect(commissions.stdout).toMatch(/^JPY +500 +1$/m);
  expect(commissions.stdout).toMatch(/^USD +41\.90 +2$/m);
  expect(commissions.stderr).toBe(''); // no progress bar without a terminal
});

test('a file with a bad line is refused whole with exit code 1; --partial imports the good lines', async () => {
  machine.write('bad.csv', `${COMMISSIONS}c5,nobody,1,USD,\nc6,a1,2.00,USD,2026-09-04\n`);
  const refused = await run(['commissions', 'import', 'bad.csv', '--json']);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'bad_request', reason: 'invalid_lines' });
  expect(JSON.parse(refused.stderr).error.message).toContain(
    'line 6: affiliate_external_id belongs to no affiliate: "nobody"',
  );

  const partial = await run(['commissions', 'import', 'bad.csv', '--partial', '--json']);
  expect(partial.code).toBe(1); // a line was refused: a script has to notice
  expect(partial.json()).toMatchObject({ created: 1, unchanged: 4, failed: 1, errors: [{ line: 6 }] });
});

test('a payout is previewed and created with filters, while a server starts on the same data', async () => {
  const preview = await run(['payouts', 'preview', '--filter', 'currency=usd,jpy', '--json']);
  expect(preview.json()).toMatchObject({ id: null, affiliate_count: 3, commission_count: 4 });

  server = await startServer(machine);
  const made = await run(['payouts', 'create', '--filter', 'currency=usd', '--filter', 'currency=jpy']);
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^Payout 1 {2}po_[0-9a-f]{32} {2}unpaid {2}revision 1$/m);
  expect(made.stdout).toMatch(/^USD +43\.90 +2 +3$/m);
  const current = await (await get('/v2/affiliates/payouts/current')).json();
  expect(current).toMatchObject({ number: 1, filters: { currency: { in: ['usd', 'jpy'] } } });

  const second = await run(['payouts', 'create', '--json']);
  expect(second).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(second.stderr).error).toMatchObject({
    code: 'conflict',
    reason: 'current_payout_exists',
  });
});

test('a payout is found by its number, its id and as current', async () => {
  const byNumber = (await run(['payouts', 'show', '1', '--json'])).json();
  const byId = (await run(['payouts', 'show', byNumber.id, '--json'])).json();
  expect((await run(['payouts', 'show', 'current', '--json'])).json()).toEqual(byNumber);
  expect(byId).toEqual(byNumber);
  const list = (await run(['payouts', 'list', '--status', 'unpaid', '--json'])).json();
  expect(list).toMatchObject({ data: [{ id: byNumber.id }], pagination: { total: 1 } });
  const missing = await run(['payouts', 'show', '2']);
  expect(missing).toMatchObject({
    code: 1,
    stderr: 'payhook: there is no payout number 2: payhook payouts list shows them\n',
  });
});

test("the export is the API's file, readable by its owner only, and overwrites nothing", async () => {
  const ran = await run(['payouts', 'export', '1']);
  const name = ran.stdout.trim();
  expect(name).toMatch(/^exports\/payout-1-r1-\d{4}-\d\d-\d\d\.csv$/);
  const path = join(machine.folder, name);
  const api = await (await get('/v2/affiliates/payouts/current/download')).text();
  expect(readFileSync(path, 'utf8')).toBe(api);
  expect(statSync(path).mode & 0o777).toBe(0o600);

  writeFileSync(path, 'mine');
  const refused = await run(['payouts', 'export', '1']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${name} exists: add --force`) });
  expect(readFileSync(path, 'utf8')).toBe('mine');
  const forced = await run(['payouts', 'export', 'current', '-o', name, '--force', '--json']);
  expect(forced.json()).toMatchObject({ files: [{ file: name, bytes: Buffer.byteLength(api) }] });
  expect((await run(['payouts', 'export', '1', '-o', '-'])).stdout).toBe(api);
});

test('completing and deleting need --yes without a terminal, and change nothing without it', async () => {
  for (const args of [
    ['complete', '1', '--all-paid'],
    ['delete', '1'],
  ]) {
    const ran = await run(['payouts', ...args]);
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  }
  expect((await get('/v2/affiliates/payouts/current')).status).toBe(200);
});

test('a wrong list of paid affiliates is refused by line and column, and nothing changes', async () => {
  const [ada, bob, yuki] = await affiliateIds();
  const header = 'affiliate_id,is_paid\n';
  const cases = {
    'line 3, column is_paid: must be true or false, not "tr"': `${header}${ada},true\n${bob},tr`,
    'line 3, column affiliate_id: affiliate 99 is not in the payout': `${header}${ada},true\n99,true\n`,
    [`the list does not name affiliates ${bob}, ${yuki}`]: `${header}${ada},true\n`,
  };
  const before = await (await get('/v2/affiliates/payouts/current')).json();
  for (const [message, content] of Object.entries(cases)) {
    machine.write('paid.csv', content);
    const ran = await run(['payouts', 'complete', '1', '--from', 'paid.csv', '--yes']);
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
  }
  const partly = await run(['payouts', 'complete', '1', '--paid', `${ada},${bob}`, '--yes', '--json']);
  expect(partly.code).toBe(1);
  expect(JSON.parse(partly.stderr).error.reason).toBe('affiliates_missing');
  expect(await (await get('/v2/affiliates/payouts/current')).json()).toEqual(before);
});

test('a list from a spreadsheet, with byte order mark and CRLF, completes the payout', async () => {
  const [ada, bob, yuki] = await affiliateIds();
  const lines = [
    'affiliate_id,is_paid,payment_reference',
    `${ada},TRUE,X-1`,
    `${bob},FALSE,`,
    `${yuki},TRUE,X-3`,
  ];
  machine.write('paid.csv', `\uFEFF${lines.join('\r\n')}\r\n`);
  const ran = await run(['payouts', 'complete', 'current', '--from', 'paid.csv', '--yes', '--json']);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.json()).toMatchObject({
    status: 'paid',
    paid_by: 'operator',
    affiliates: [
      { affiliate_id: ada, is_paid: true, payment_reference: 'X-1' },
      { affiliate_id: bob, is_paid: false, payment_reference: null },
      { affiliate_id: yuki, is_paid: true, payment_reference: 'X-3' },
    ],
  });
  const removed = await run(['payouts', 'delete', '1', '--yes', '--json']);
  expect(removed.code).toBe(1);
  expect(JSON.parse(removed.stderr).error.reason).toBe('payout_is_paid');
});

test('a key created on the command line works over HTTP at once, until it is revoked', async () => {
  const made = await run(['keys', 'create', '--name', 'ci', '--json']);
  const { id, name, key } = made.json();
  expect({ id, name, key }).toEqual({
    id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
    name: 'ci',
    key: expect.stringMatching(/^ph_/),
  });
  expect((await get('/v2/account', key)).status).toBe(200);
  const listed = await run(['keys', 'list', '--json']);
  expect(listed.json().data.map((item: { name: string }) => item.name)).toEqual(['ci', 'first key']);
  expect(listed.stdout).not.toContain(key);
  const twice = await run(['keys', 'create', '--name', 'ci', '--json']);
  expect(JSON.parse(twice.stderr).error.reason).toBe('duplicate_name');
  const unconfirmed = await run(['keys', 'revoke', 'ci']);
  expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('add --yes')]);
  const revoked = await run(['keys', 'revoke', 'ci', '--yes', '--json']);
  expect(revoked.json()).toEqual({ id, object: 'api_key', revoked: true });
  expect((await get('/v2/account', key)).status).toBe(401);
});

test('with PAYHOOK_URL and a key the commands call that server', async () => {
  const env = {
    PAYHOOK_URL: server.url,
    PAYHOOK_API_KEY: firstKey(),
    DATA_DIR: join(machine.folder, 'none'),
  };
  const made = await run(['payouts', 'create', '--json'], { env });
  expect(made.json()).toMatchObject({ number: 2, affiliate_count: 2 });
  expect(existsSync(env.DATA_DIR)).toBe(false);
  const removed = await run(['payouts', 'delete', '2', '--yes', '--json'], { env });
  expect(removed.json()).toEqual({ id: made.json().id, object: 'affiliate_payout', deleted: true });
  const wrong = await run(['payouts', 'list', '--json'], { env: { ...env, PAYHOOK_API_KEY: 'x' } });
  expect(JSON.parse(wrong.stderr).error).toMatchObject({
    code: 'unauthorized',
    reason: 'invalid_credentials',
  });
});

test('with several accounts commands use the first until another is chosen, and each sees only its own', async () => {
  const made = await run(['accounts', 'create', '--name', 'Northwind', '--json']);
  const { id } = made.json();
  const first = (await run(['accounts', 'list', '--json'])).json().data[0].id;
  expect(id).toMatch(/^acc_/);
  const total = async (args: string[] = [], env = {}) =>
    (await run(['payouts', 'list', '--json', ...args], { env })).json().pagination.total;
  expect(await total()).toBe(1);
  expect((await run(['accounts', 'use', 'Northwind'])).stdout).toBe(
    `Northwind (${id}) is now the current account.\n`,
  );
  expect(await total()).toBe(0);
  expect(await total([], { PAYHOOK_ACCOUNT: 'Default' })).toBe(1);
  expect(await total(['--account', 'Northwind'], { PAYHOOK_ACCOUNT: 'Default' })).toBe(0);
  const listed = await run(['accounts', 'list']);
  expect(listed.stdout).toMatch(new RegExp(`^${first} +Default *\n${id} +Northwind +yes *$`, 'm'));
  const unknown = await run(['keys', 'list', '--account', 'Nobody']);
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no account has the id or name Nobody'),
  });
});

test('without a chosen account, or with a deleted one, commands list the accounts', async () => {
  const choice = join(machine.dataDir, 'current-account');
  expect(statSync(choice).mode & 0o777).toBe(0o600);
  rmSync(choice);
  const unclear = await run(['payouts', 'list']);
  expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining('payhook accounts use') });
  expect(unclear.stderr).toMatch(/acc_\w+ \(Default\), acc_\w+ \(Northwind\)/);
  machine.write('data folder/current-account', 'acc_gone\n');
  const gone = await run(['payouts', 'list']);
  expect(gone).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('acc_gone is not in this database'),
  });
  expect((await run(['accounts', 'use', 'Default'])).code).toBe(0);
});

test('migrate and doctor find nothing to do on a healthy installation', async () => {
  expect((await run(['migrate', '--json'])).json()).toEqual({
    version: expect.any(Number),
    applied: [],
    other_cells: [],
  });
  const { ok, checks } = (await run(['doctor', '--json'])).json();
  expect(ok).toBe(true);
  expect(checks.filter((check: { status: string }) => check.status !== 'ok')).toEqual([
    { name: 'backups', status: 'skipped', detail: expect.stringContaining('none yet') },
  ]);
});

test("all these commands left no temporary file and did not stop the server's PostgreSQL", async () => {
  expect(machine.leftovers()).toEqual([]);
  expect(isRunning(postgresPid(machine.dataDir))).toBe(true);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});
