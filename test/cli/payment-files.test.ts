import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  AFFILIATES,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  parseCsv,
} from '../api/fixtures.ts';
import { type Answer, json, stub } from '../client/support.ts';
import { longRun } from '../support/depth.ts';
import { paymentsIn } from '../support/sepa.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { runHere } from './here.ts';
import { type Machine, type Ran, startMachine } from './support.ts';

const world = useWorld();
/** An account and a folder of their own for each test. */
const api = useAccount(world);
let machine: Machine;
beforeEach(async () => {
  machine = startMachine();
});
afterEach(() => machine.close());

const WISE = { payout_method: 'wise', name_first: 'Zoë' };
const PAYPAL = { payout_method: 'paypal', paypal_email: 'pay@example.com' };

const run = (args: readonly string[], url = world.url) =>
  runHere(args, { env: { PAYHOOK_URL: url, PAYHOOK_API_KEY: api.key }, cwd: machine.folder });
const exportTo = (...args: string[]) => run(['payouts', 'export', 'current', ...args]);
const read = (name: string) => readFileSync(join(machine.folder, name), 'utf8');
const apiFile = async (query: string) => (await api.get(`${PAYOUTS}/current/payment-files/${query}`)).text;

/** A command that must succeed; returns its JSON. */
async function runJson(...args: string[]): Promise<Json> {
  const ran = await run([...args, '--json']);
  expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' });
  return ran.json();
}

/** A command that is refused and creates no file. */
async function refuse(ran: Promise<Ran>, code: number, ...parts: string[]): Promise<void> {
  const before = machine.files();
  const { stdout, stderr, code: ended } = await ran;
  expect({ code: ended, stdout }, stderr).toEqual({ code, stdout: '' });
  for (const part of parts) expect(stderr).toContain(part);
  expect(machine.files()).toEqual(before);
}

/** An affiliate with commissions of these amounts, by currency. */
async function someone(fields: object, owed: Readonly<Record<string, number>>): Promise<number> {
  const { id } = await makeAffiliate(api, fields);
  for (const [currency, amount] of Object.entries(owed)) await makeCommission(api, id, { currency, amount });
  return id;
}

/** That number of affiliates whom Wise can pay, each with a commission. */
async function manyForWise(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => `a${index}`);
  const lines = (header: string, line: (row: string) => string) => [header, ...rows.map(line), ''].join('\n');
  const people = lines(
    'external_id,email,name_first,payout_method',
    (row) => `${row},${row}@example.com,A,wise`,
  );
  expect((await api.upload(`${AFFILIATES}/import`, people)).status).toBe(200);
  const sales = lines(
    'external_id,affiliate_external_id,amount,currency,occurred_at',
    (row) => `${row},${row},1.00,USD,2026-01-01`,
  );
  expect((await api.upload(`${AFFILIATES}/commissions/import`, sales)).status).toBe(200);
}

test("each format is the API's file, under the server's file name, readable by its owner only", async () => {
  await someone(WISE, { eur: 1250 });
  const { id, as_of } = await makePayout(api);
  const start = `exports/payout-1-r1-${as_of.slice(0, 10)}`;
  for (const [args, name, text] of [
    [[], `${start}.csv`, (await api.get(`${PAYOUTS}/current/download`)).text],
    [['--format', 'summary'], `${start}-summary.csv`, await apiFile('summary')],
    [['--format', 'wise'], `${start}-wise-eur.csv`, await apiFile('wise')],
  ] as const) {
    expect(await exportTo(...args)).toMatchObject({ code: 0, stdout: `${name}\n`, stderr: '' });
    expect(read(name)).toBe(text);
    expect(statSync(join(machine.folder, name)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(join(machine.folder, 'exports')).mode & 0o777).toBe(0o700);
  const wise = ['--format', 'wise', '--currency', 'EUR', '--source-currency', 'gbp', '-o', 'mine.csv'];
  expect(await runJson('payouts', 'export', '1', ...wise)).toEqual({
    files: [{ file: 'mine.csv', bytes: expect.any(Number), part: null }],
    skipped_affiliates: 0,
    affiliates_above_limit: 0,
    affiliates_in_other_files: 1, // paid from euros before
    file_set_id: expect.stringMatching(/^pfs_/),
    replaces_file_set_id: expect.stringMatching(/^pfs_/),
    payout_id: id,
    revision: 1,
    format: 'wise',
    paid_list: null,
  });
  expect(read('mine.csv')).toBe(await apiFile('wise?source_currency=gbp'));
  expect((await exportTo('--format', 'wise', '-o', '-')).stdout).toBe(await apiFile('wise'));
});

test('a refusal of the server names the option that helps', async () => {
  const bob = await someone({ payout_method: 'other' }, { usd: 100 });
  await someone(PAYPAL, { usd: 100, eur: 200 });
  await makePayout(api);
  const paypal = (...args: string[]) => exportTo('--format', 'paypal', ...args);
  await refuse(paypal(), 1, 'choose with --currency, one of eur, usd');
  await refuse(paypal('--currency', 'chf'), 1, '--currency: the payout pays nothing in chf');
  await refuse(paypal('--currency', 'usd'), 1, `(affiliates ${bob})`, '--allow-skipped leaves them out');
});

test('an option that the format does not have is a usage error', async () => {
  for (const [args, message] of [
    [['--currency', 'usd'], '--currency needs --format paypal or wise'],
    [['--format', 'paypal', '--source-currency', 'usd'], '--source-currency needs --format wise'],
    [['--format', 'wise', '--currency', 'xyz'], '--currency must be an ISO 4217 currency code'],
    [['--format', 'wise', '--paid-list', 'p.csv', '-o', '-'], '--paid-list cannot be used with -o -'],
  ] as const)
    await refuse(exportTo(...args), 2, message);
});

test('skipped affiliates are counted, and so are amounts in other currencies', async () => {
  await someone(PAYPAL, { usd: 100, jpy: 100 });
  for (const method of ['wise', 'other']) await someone({ payout_method: method }, { usd: 100 });
  await makePayout(api);
  const args = ['--format', 'paypal', '--currency', 'usd', '--allow-skipped'];
  const ran = await exportTo(...args);
  expect(ran).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^exports\/payout-1-r1-.+-paypal-usd\.csv\n$/),
  });
  expect(ran.stderr).toContain('2 affiliates of this payout are NOT paid by the file');
  expect(ran.stderr).toContain('The payout also has lines in JPY');
  const report = await runJson('payouts', 'export', '1', ...args, '--force');
  expect(report).toMatchObject({ skipped_affiliates: 2, format: 'paypal' });
});

test('nothing is overwritten without --force, and a folder or a device never is', async () => {
  await someone(WISE, { usd: 100 });
  await makePayout(api);
  writeFileSync(join(machine.folder, 'mine.csv'), 'mine');
  const wise = (...args: string[]) => exportTo('--format', 'wise', ...args);
  await refuse(wise('-o', 'mine.csv'), 1, 'mine.csv exists: add --force');
  await refuse(wise('--paid-list', 'mine.csv'), 1, 'mine.csv exists: add --force');
  await refuse(wise('-o', machine.folder, '--force'), 1, 'is a folder');
  await refuse(wise('-o', '/dev/null', '--force'), 1, 'is not a regular file');
  await refuse(wise('-o', 'none/mine.csv'), 1, 'none is not a folder');
  await refuse(wise('-o', 'one.csv', '--paid-list', './one.csv'), 2, 'two files cannot have the same name');
  expect(read('mine.csv')).toBe('mine');
  expect((await wise('-o', 'mine.csv', '-f')).code).toBe(0);
  expect(read('mine.csv')).toBe(await apiFile('wise'));
});

longRun.test(
  'a file of several parts is written whole: every part under its own name, each row once',
  async () => {
    await manyForWise(1001);
    const { as_of } = await makePayout(api);
    const parts = [await apiFile('wise?part=1'), await apiFile('wise?part=2')];
    const names = [1, 2].map(
      (part) => `exports/payout-1-r1-${as_of.slice(0, 10)}-wise-usd-part-${part}-of-2.csv`,
    );
    expect(await exportTo('--format', 'wise')).toMatchObject({ code: 0, stdout: `${names.join('\n')}\n` });
    expect(names.map(read)).toEqual(parts);

    const { files, paid_list } = await runJson(
      ...['payouts', 'export', 'current', '--format', 'wise', '-o', 'bank.v2.csv', '--paid-list', 'paid.csv'],
    );
    expect(files).toEqual([
      { file: 'bank.v2-part-1.csv', bytes: Buffer.byteLength(parts[0] ?? ''), part: 1 },
      { file: 'bank.v2-part-2.csv', bytes: Buffer.byteLength(parts[1] ?? ''), part: 2 },
    ]);
    expect(['bank.v2-part-1.csv', 'bank.v2-part-2.csv'].map(read)).toEqual(parts);
    expect(paid_list).toEqual({ file: 'paid.csv', paid: 1001, not_paid: 0 });
    await refuse(exportTo('--format', 'wise', '-o', '-'), 1, 'the payout needs 2 files');
    await refuse(exportTo('--format', 'wise', '-o', 'bank.v2.csv'), 1, 'bank.v2-part-1.csv exists');

    // and a list of this size completes the payout
    const show = await run(['payouts', 'show', '1']);
    expect(show.stdout).toContain(
      'More than 1,000 affiliates. To list them by page: payhook payouts affiliates 1',
    );
    const second = await runJson('payouts', 'affiliates', '1', '--per-page', '100', '--page', '11');
    expect(second).toMatchObject({ data: [{ name: 'A' }], pagination: { total: 1001, pages: 11 } });
    const done = await runJson('payouts', 'complete', '1', '--from', 'paid.csv', '--revision', '1', '--yes');
    expect(done).toMatchObject({ status: 'paid', totals: [{ paid_amount: 100_100, released_amount: 0 }] });
  },
);

/** The server, but `first` runs before the request that `isIt` picks. */
async function between(isIt: (path: string) => boolean, first: () => Promise<unknown>): Promise<string> {
  const proxy = createServer(async ({ url = '', headers: { authorization = '' } }, response) => {
    if (isIt(url)) await first();
    // the body is forwarded unchanged, so it must not be compressed
    const answer = await fetch(world.url + url, {
      headers: { authorization, 'accept-encoding': 'identity' },
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

test('when the payout changes between two parts, no part is left', async () => {
  await manyForWise(5);
  await makePayout(api);
  const { affiliate_id } = (await api.get(`${PAYOUTS}/current/affiliates`)).body.data[0];
  const change = () => api.patch(`${AFFILIATES}/${affiliate_id}`, { name_last: 'Okafor' });
  const url = await between((path) => path.includes('part=2'), change);
  const args = ['payouts', 'export', 'current', '--format', 'wise', '--rows-per-file', '3', '--json'];
  const ran = await run(args, url);
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  const { error } = JSON.parse(ran.stderr);
  expect(error).toMatchObject({ code: 'conflict', reason: 'payout_changed' });
  expect(error.message).toContain('it was at revision 1, and is at 2');
  expect(machine.files()).toEqual([]);
});

test('a part cut off midway removes the previous parts too', async () => {
  const payout = { id: 'po_1', number: 1, revision: 1, status: 'unpaid', affiliates: [], totals: [] };
  const part =
    (number: number, end: 'whole' | 'cut'): Answer =>
    (_, response) => {
      const name = `payout-1-r1-2026-09-15-wise-usd-part-${number}-of-2.csv`;
      response.writeHead(200, { 'content-disposition': `attachment; filename="${name}"`, etag: '"1"' });
      if (end === 'whole') response.end('name\r\n');
      else response.write('name\r\n', () => response.destroy());
    };
  const { url, seen } = await stub(json(200, payout), part(1, 'whole'), part(2, 'cut'));
  const args = ['payouts', 'export', 'po_1', '--format', 'wise'];
  await refuse(run(args, url), 1, 'the download was cut off');
  expect(seen.map(({ url: path }) => path?.replace(/.*\?/, '')).slice(1)).toEqual(['part=1', 'part=2']);
  expect(machine.files()).toEqual([]);
});

test('the lists of two files complete the payout: an affiliate in either file is paid, with its reference', async () => {
  const [ada, bob, eve] = [
    await someone(PAYPAL, { usd: 100 }),
    await someone(WISE, { usd: 200 }),
    await someone({ payout_method: 'other' }, { usd: 400 }),
  ];
  await makePayout(api);
  for (const format of ['paypal', 'wise']) {
    const ran = await exportTo('--format', format, '--allow-skipped', '--paid-list', `${format}.list.csv`);
    expect(ran.stdout).toMatch(
      new RegExp(`^exports/payout-1-r1-.+-${format}-usd\\.csv\n${format}\\.list\\.csv\n$`),
    );
    const next = `payhook payouts complete 1 --from ${format}.list.csv --revision 1`;
    expect(ran.stderr).toContain(`${format}.list.csv: 1 paid, 2 not. After the payment: ${next}`);
    expect(statSync(join(machine.folder, `${format}.list.csv`)).mode & 0o777).toBe(0o600);
  }
  expect(read('paypal.list.csv')).toBe(
    'affiliate_id,currency,is_paid,amount,payment_reference\r\n' +
      `${ada},usd,true,,P1-A${ada}\r\n${bob},usd,false,,\r\n${eve},usd,false,,\r\n`,
  );
  const complete = ['payouts', 'complete', '1', '--yes', '--from', 'paypal.list.csv'];
  await nothingChanges(world, () =>
    refuse(
      run([...complete, '--from', 'paypal.list.csv']),
      1,
      `affiliate ${ada} in USD is also paid in another file`,
    ),
  );
  const { affiliates } = await runJson(...complete, '--from', 'wise.list.csv');
  expect(affiliates.map((line: Json) => [line.affiliate_id, line.is_paid, line.payment_reference])).toEqual([
    [ada, true, `P1-A${ada}`],
    [bob, true, `P1-A${bob}`],
    [eve, false, null],
  ]);
  const again = exportTo('--format', 'paypal', '--paid-list', 'again.csv');
  await refuse(again, 1, 'unpaid payout');
  await refuse(
    run(['payouts', 'export', '1', '--format', 'paypal', '--paid-list', 'x.csv']),
    1,
    'payout 1 is paid',
  );
});

test('Wise pays to the IBAN of a destination, also from dollars, and the file completes the payout', async () => {
  const ada = await someone({ email: 'ada@example.com' }, { eur: 100 });
  const account = ['--account-holder', 'Ada', '--iban', 'DE89370400440532013000'];
  const set = await run(['affiliates', 'destination', 'set', String(ada), '--type', 'wise_bank', ...account]);
  expect(set, set.stderr).toMatchObject({ code: 0 });
  expect(set.stdout).toMatch(/wise_bank +DE…3000/);
  const bob = await someone(WISE, { eur: 200 });
  await makePayout(api);
  const file = ['--format', 'wise_bank', '--source-currency', 'usd', '--allow-skipped', '-o', 'iban.csv'];
  const ran = await exportTo(...file);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  expect(read('iban.csv')).toContain(`Ada,ada@example.com,P1-A${ada},,PERSON,target,1.00,USD,EUR,DE8937`);
  const { affiliates } = await runJson('payouts', 'complete', '1', '--yes', '--from', 'iban.csv');
  expect(affiliates.map((line: Json) => [line.affiliate_id, line.is_paid, line.payment_reference])).toEqual([
    [ada, true, `P1-A${ada}`],
    [bob, false, null],
  ]);
});

/** Two affiliates of an unpaid payout: one is owed dollars and euros by PayPal, the other dollars by Wise. */
async function inTwoCurrencies(): Promise<[both: number, wise: number]> {
  const both = await someone(PAYPAL, { usd: 100, eur: 200 });
  const wise = await someone(WISE, { usd: 300 });
  await makePayout(api);
  return [both, wise];
}

const settled = ({ affiliates }: Json) =>
  affiliates.flatMap((line: Json) =>
    line.totals.map((total: Json) => [
      line.affiliate_id,
      total.currency,
      total.paid_amount,
      total.payment_reference,
    ]),
  );

test('the list of a file of one currency completes those lines, and lists of several files merge', async () => {
  const [both, wise] = await inTwoCurrencies();
  for (const currency of ['usd', 'eur']) {
    const list = ['--allow-skipped', '--paid-list', `${currency}.csv`];
    const ran = await exportTo('--format', 'paypal', '--currency', currency, ...list);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
  }
  expect(parseCsv(read('usd.csv')).slice(1)).toEqual([
    [String(both), 'eur', 'false', '', ''],
    [String(both), 'usd', 'true', '', `P1-A${both}`],
    [String(wise), 'usd', 'false', '', ''],
  ]);
  const done = await runJson('payouts', 'complete', '1', '--yes', '--from', 'usd.csv', '--from', 'eur.csv');
  expect(settled(done)).toEqual([
    [both, 'eur', 200, `P1-A${both}`],
    [both, 'usd', 100, `P1-A${both}`],
    [wise, 'usd', 0, null],
  ]);
});

test('the payment files themselves complete the payout: lines that none of them pays are owed again', async () => {
  const [both, wise] = await inTwoCurrencies();
  for (const [format, file] of [['paypal', 'p.csv'] as const, ['wise', 'w.csv'] as const]) {
    const ran = await exportTo('--format', format, '--currency', 'usd', '--allow-skipped', '-o', file);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
  }
  const complete = ['payouts', 'complete', '1', '--yes', '--from', 'p.csv', '--from'];
  await nothingChanges(world, () =>
    refuse(
      run([...complete, 'p.csv']),
      1,
      `p.csv: line 1: affiliate ${both} in USD is also paid in another file`,
    ),
  );
  const done = await runJson(...complete, 'w.csv', '--revision', '1');
  expect(settled(done)).toEqual([
    [both, 'eur', 0, null],
    [both, 'usd', 100, `P1-A${both}`],
    [wise, 'usd', 300, `P1-A${wise}`],
  ]);
  await makePayout(api);
  await nothingChanges(world, () =>
    refuse(run(['payouts', 'complete', '2', '--yes', '--from', 'p.csv']), 1, 'which is not in this payout'),
  );
});

test('files of an earlier version, whose payment ids have no letters, complete the payout too', async () => {
  const [both, wise] = await inTwoCurrencies();
  for (const [format, file] of [['paypal', 'p.csv'] as const, ['wise', 'w.csv'] as const]) {
    await exportTo('--format', format, '--currency', 'usd', '--allow-skipped', '-o', file);
    const old = read(file).replaceAll(/P(\d+)-A(\d+)/g, '$1-$2');
    expect(old).not.toBe(read(file));
    writeFileSync(join(machine.folder, file), old);
  }
  const done = await runJson('payouts', 'complete', '1', '--yes', '--from', 'p.csv', '--from', 'w.csv');
  expect(settled(done)).toEqual([
    [both, 'eur', 0, null],
    [both, 'usd', 100, `1-${both}`],
    [wise, 'usd', 300, `1-${wise}`],
  ]);
});

test('a warning about amounts that PayPal may refuse is on stderr and in the JSON', async () => {
  await someone(PAYPAL, { usd: 2_000_001 });
  await makePayout(api);
  const ran = await exportTo('--format', 'paypal');
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^exports\/.+-paypal-usd\.csv\n$/) });
  expect(ran.stderr).toContain("1 payment in the file is above PayPal's limit for one payment");
  const result = await runJson('payouts', 'export', 'current', '--format', 'paypal', '-o', 'other.csv');
  expect(result.affiliates_above_limit).toBe(1);
  const settings = await runJson('account', 'change', '--paypal-limit', 'usd=20000.01,eur=5');
  expect(settings.paypal_payment_limit).toEqual({ usd: 2_000_001, eur: 500 });
  expect((await exportTo('--format', 'paypal', '-o', 'third.csv')).stderr).toBe('');
});

test('a PayPal file of whole units completes the payout and carries over the rest, as its list does', async () => {
  const ada = await someone(PAYPAL, { huf: 120_050 });
  await makePayout(api);
  const args = ['--format', 'paypal', '--whole-units', '-o', 'huf.csv', '--paid-list', 'list.csv'];
  await refuse(exportTo('--format', 'paypal'), 1, '--whole-units pays whole units');
  expect((await exportTo(...args)).code).toBe(0);
  expect(parseCsv(read('list.csv'))[1]).toEqual([String(ada), 'huf', 'true', '1200.00', `P1-A${ada}`]);
  const done = await runJson('payouts', 'complete', '1', '--yes', '--from', 'huf.csv');
  expect(done.totals[0]).toMatchObject({ paid_amount: 120_000, carried_amount: 50 });
  await refuse(exportTo('--format', 'wise', '--whole-units'), 2, '--whole-units needs --format paypal');
});

test('options name lines and parts of lines', async () => {
  const [both, wise] = await inTwoCurrencies();
  const complete = ['payouts', 'complete', '1', '--yes'];
  await nothingChanges(world, async () => {
    await refuse(
      run([...complete, '--paid', `${both}:usd,${wise}`]),
      1,
      `does not name affiliates ${both} in EUR`,
    );
    await refuse(run([...complete, '--paid', `${both},${both}:usd`]), 2, `affiliate ${both} is named twice`);
    await refuse(
      run([...complete, '--all-paid', '--unpaid', `${both}:usd=1`]),
      2,
      '--unpaid takes no amount',
    );
    await refuse(
      run([...complete, '--all-paid', '--unpaid', `${wise}:eur`]),
      1,
      `${wise} in EUR is not in the payout`,
    );
  });
  const paid = ['--paid', `${both}:usd=0.40,${wise}`, '--unpaid', `${both}:eur`];
  expect(settled(await runJson(...complete, ...paid))).toEqual([
    [both, 'eur', 0, null],
    [both, 'usd', 40, null],
    [wise, 'usd', 300, null],
  ]);
});

test("a payout that changed after its file was created is not completed with the file's revision", async () => {
  const ada = await someone(PAYPAL, { usd: 100, jpy: 5 });
  await makePayout(api, { filters: { currency: 'usd' } });
  expect((await exportTo('--format', 'paypal', '--paid-list', 'paid.csv')).code).toBe(0);
  await api.patch(`${AFFILIATES}/${ada}`, { paypal_email: 'new@example.com' });
  const complete = ['payouts', 'complete', '1', '--from', 'paid.csv', '--yes', '--revision'];
  await nothingChanges(world, () =>
    refuse(run([...complete, '1']), 1, 'payout 1 has changed: it is at revision 2, not 1'),
  );
  await refuse(run([...complete, 'one']), 2, '--revision must be a whole number');
  expect((await run([...complete, '2'])).code).toBe(0);
});

test('the list is not written when the payout changes between reading it and the file', async () => {
  const ada = await someone(PAYPAL, { usd: 100 });
  await makePayout(api);
  const change = () => api.patch(`${AFFILIATES}/${ada}`, { name_last: 'Okafor' });
  const url = await between((path) => path.includes('payment-files'), change);
  const args = ['payouts', 'export', 'current', '--format', 'paypal', '--paid-list', 'paid.csv'];
  await refuse(run(args, url), 1, 'payout 1 changed in the meantime');
});

longRun.test(
  'files of other rows are a new set: the export warns about affiliates in both sets and names the earlier file',
  async () => {
    await manyForWise(5);
    await makePayout(api);
    const wise = (...args: string[]) => exportTo('--format', 'wise', ...args);
    const first = await runJson(
      'payouts',
      'export',
      '1',
      '--format',
      'wise',
      '--rows-per-file',
      '3',
      '-o',
      'first.csv',
    );
    expect(first).toMatchObject({ files: [{ part: 1 }, { part: 2 }], affiliates_in_other_files: 0 });
    expect(first.replaces_file_set_id).toBeNull();
    // the same files again are not a new set
    expect((await wise('--rows-per-file', '3', '-o', 'again.csv')).stderr).toBe('');
    expect(read('again-part-1.csv')).toBe(read('first-part-1.csv'));
    const second = await wise('--rows-per-file', '2', '-o', 'second.csv');
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toContain('WARNING: 5 affiliates in this file are also in another file');
    expect(second.stderr).toMatch(
      /The other files: wise, part 1, revision 1, downloaded \d{4}(-\d\d){2} \d\d:\d\d \(UTC\); wise, part 2/,
    );
    const third = await run(['payouts', 'export', '1', '--format', 'wise', '-o', 'third.csv', '--json']);
    expect(third.json()).toMatchObject({ affiliates_in_other_files: 5, files: [{ part: null }] });
    const { downloads } = (await api.get(`${PAYOUTS}/current/payment-files`)).body.files[0];
    expect(downloads.map(({ is_outdated }: Json) => is_outdated)).toEqual([false, ...Array(7).fill(true)]);
    await refuse(wise('--rows-per-file', '1'), 2, '--rows-per-file must be a whole number');
    await refuse(
      wise('--rows-per-file', '1001'),
      1,
      '--rows-per-file must be at most 1000 for the Wise file',
    );
    await refuse(exportTo('--rows-per-file', '3'), 2, '--rows-per-file needs --format');
  },
);

longRun.test(
  'credit transfers in parts of another size pay everyone again, and outdate the earlier parts',
  async () => {
    await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
    const ids: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const id = await someone({}, { eur: 100 + index });
      const account = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
      expect((await api.put(`${AFFILIATES}/${id}/destination`, account)).status).toBe(200);
      ids.push(id);
    }
    await makePayout(api);
    const everybody = ids.map((id) => `P1-A${id}`).sort();
    const exported = async (rows: number) => {
      const by = ['--format', 'sepa_credit_transfer', '--rows-per-file', String(rows), '--json'];
      const ran = await run(['payouts', 'export', '1', ...by, '-o', `by-${rows}.xml`]);
      expect(ran.code, ran.stderr).toBe(0);
      const report = ran.json();
      const paid = report.files.map(({ file }: Json) => paymentsIn(read(file)).map((each) => each.reference));
      expect(report).toMatchObject({ format: 'sepa' });
      expect(paid.flat().sort()).toEqual(everybody);
      return { report, parts: paid.map((each: string[]) => each.length) };
    };
    const first = await exported(4);
    expect(first.parts).toEqual([3, 2]);
    const second = await exported(2);
    expect(second.parts).toEqual([2, 2, 1]);
    expect(second.report).toMatchObject({
      affiliates_in_other_files: 5,
      replaces_file_set_id: first.report.file_set_id,
    });
    const { downloads } = (await api.get(`${PAYOUTS}/current/payment-files`)).body.files.find(
      ({ format }: Json) => format === 'sepa',
    );
    expect(downloads.map(({ is_outdated }: Json) => is_outdated)).toEqual([false, false, false, true, true]);
    await refuse(
      exportTo('--format', 'sepa_instant'),
      2,
      'Allowed choices are commissions, summary, signals, paypal',
    );
  },
);

test('--all-paid refuses lines in no downloaded file and names their sum, until --also-without-file confirms them', async () => {
  const ada = await someone(PAYPAL, { usd: 100 });
  const eve = await someone({ payout_method: 'other', name_first: 'Eve' }, { usd: 42_080, jpy: 7 });
  await makePayout(api);
  await exportTo('--format', 'paypal', '--currency', 'usd', '--allow-skipped');
  const complete = ['payouts', 'complete', '1', '--all-paid', '--yes'];
  await nothingChanges(world, () =>
    refuse(
      run(complete),
      1,
      '2 payments in no downloaded payment file, 7 JPY, 420.80 USD',
      `${eve} (Eve)`,
      '--also-without-file',
    ),
  );
  await refuse(
    run(['payouts', 'complete', '1', '--paid', `${ada}`, '--also-without-file', '--yes']),
    2,
    '--also-without-file needs --all-paid',
  );
  const done = await runJson(...complete, '--also-without-file');
  expect(settled(done)).toEqual([
    [ada, 'usd', 100, null],
    [eve, 'jpy', 7, null],
    [eve, 'usd', 42_080, null],
  ]);
});

test('--all-paid needs nothing else when the lines in no file are named as unpaid', async () => {
  const ada = await someone(PAYPAL, { usd: 100 });
  const eve = await someone({ payout_method: 'other' }, { usd: 300 });
  await makePayout(api);
  await exportTo('--format', 'paypal', '--currency', 'usd', '--allow-skipped');
  const done = await runJson('payouts', 'complete', '1', '--all-paid', '--unpaid', `${eve}`, '--yes');
  expect(settled(done)).toEqual([
    [ada, 'usd', 100, null],
    [eve, 'usd', 0, null],
  ]);
});
