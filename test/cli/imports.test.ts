import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AFFILIATES, allOf, COMMISSIONS, makeAffiliate, nothingChanges } from '../api/fixtures.ts';
import { number, xlsx } from '../support/workbooks.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf, runOn } from './here.ts';
import { ROOT, useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { run: runArgs, runJson } = commandsOf(world, api, machine);

const run = (args: readonly string[]) => runArgs(...args);
const runWith = (input: string, ...args: string[]) =>
  runOn(machine)(args, { env: { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: api.key }, input });
const example = (name: string) => join(ROOT, 'examples/imports', name);

test('guesses are printed, and refused without --yes', async () => {
  const file = machine.write('people.csv', 'E-Mail;Vorname;Notes\nada@example.com;Ada;x\n');
  await nothingChanges(world, async () => {
    const ran = await run(['affiliates', 'import', file]);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^Separator +semicolon$/m);
    expect(ran.stderr).toMatch(/^E-Mail +email +synonym +ada@example.com$/m);
    expect(ran.stderr).toMatch(/^Notes +- +ignored +x$/m);
    expect(ran.stderr).toContain('guessed: semicolons stand between the cells\n');
    expect(ran.stderr).toContain('accept it with --yes');
  });
  const done = await run(['affiliates', 'import', file, '--yes']);
  expect(done.stdout).toMatch(
    /^1 line: 1 created, 0 updated, 0 unchanged, 0 bad\npayhook imports show imp_[0-9a-f]{32}\n$/,
  );
  expect(await allOf(api, AFFILIATES)).toMatchObject([{ email: 'ada@example.com', name_first: 'Ada' }]);
});

test('standard input is read once, and guessed too', async () => {
  const input = 'email\tname\nada@example.com\tAda Lovelace\n';
  const refused = await runWith(input, 'affiliates', 'import', '-');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Separator +tab$/m) });
  const ran = await runWith(input, 'affiliates', 'import', '-', '--yes');
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('1 created') });
  expect(await allOf(api, AFFILIATES)).toMatchObject([{ name_first: 'Ada', name_last: 'Lovelace' }]);
  expect(machine.leftovers()).toEqual([]);
});

test('an option answers a question, --yes never does', async () => {
  await makeAffiliate(api, { email: 'ada@example.com' });
  await makeAffiliate(api, { email: 'charles@example.com' });
  const args = ['commissions', 'import', example('excel-commissions.csv'), '--yes'];
  await nothingChanges(world, async () => {
    const ran = await run(args);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('say it with --dialect dates=dmy or --dialect dates=mdy');
    expect(ran.stderr).toMatch(/^Dates +not known$/m);
  });
  const report = await runJson(...args, '--dialect', 'dates=dmy');
  expect(report).toMatchObject({ created: 3, dialect: { encoding: 'windows-1252', dates: 'dmy' } });
});

test('a refusal names every way to answer', async () => {
  const named = async (...args: string[]) => (await run([...args, '--yes'])).stderr;
  expect(await named('affiliates', 'import', example('impact-actions.csv'))).toMatch(
    /imports affiliates: say it with --map 'Order Id=ignore' --map 'Payout=ignore', or import the file as commissions\n$/,
  );
  await runJson('affiliates', 'import', example('affiliatewp-affiliates.csv'), '--yes');
  expect(await named('commissions', 'import', example('refersion-conversions.csv'))).toMatch(
    /: say it with --paid skip, or give the day of payment by a column or a constant: paid_at\n$/,
  );
  const file = machine.write('nobody.csv', 'name,country\nAda,gb\n');
  expect(await named('affiliates', 'import', file)).toMatch(
    /which column is the e-mail address\? Say it with --map 'Their column=our_field'\n$/,
  );
});

test('--map names the columns, and --save stores the mapping', async () => {
  const file = machine.write('crm.csv', 'a=b,c,d\nada@example.com,Ada,1\n');
  const map = ['--map', 'a=b=email', '--map', 'c=name_first', '--map', 'd=ignore', '--map', 'country:=de'];
  const report = await runJson('affiliates', 'import', file, ...map, '--save', 'crm');
  expect(report).toMatchObject({
    created: 1,
    guessed: [],
    mapping: { 'a=b': 'email', c: 'name_first', d: 'ignore', country: { constant: 'de' } },
  });
  const next = machine.write('next.csv', 'a=b,c,d\nbob@example.com,Bob,1\n');
  expect(await runJson('affiliates', 'import', next)).toMatchObject({ created: 1, guessed: [] });
  expect(await runJson('affiliates', 'import', next, '--map', 'crm')).toMatchObject({ unchanged: 1 });
});

test.each([
  [['--map', '=email'], "--map must look like 'Their column=our_field'"],
  [['--map', 'a=email', '--map', 'a=slug'], '--map names a twice'],
  [['--dialect', 'quote=x'], '--dialect takes encoding, separator, decimal, dates, not quote'],
  [['--dialect', 'dates=ydm'], 'dates'],
])('%j is refused', async (options, message) => {
  const file = machine.write('a.csv', 'email\nada@example.com\n');
  await nothingChanges(world, async () => {
    const ran = await run(['affiliates', 'import', file, ...options]);
    expect(ran).toMatchObject({ stdout: '', stderr: expect.stringContaining(message) });
    expect(ran.code).not.toBe(0);
  });
});

test('a sheet of a workbook is imported, with its header where it is', async () => {
  const file = join(machine.folder, 'partners.xlsx');
  const rows = [
    ['Partners of 2026'],
    [],
    ['E-Mail', 'Nr'],
    ['ada@example.com', number('7', '0000')],
    ['nobody', number('8', '0000')],
    ['no one', number('9', '0000')],
  ];
  writeFileSync(
    file,
    xlsx([
      { name: 'Notes', rows: [['Nothing here']] },
      { name: 'Partners', rows },
    ]),
  );
  const args = ['affiliates', 'import', file, '--sheet', 'Partners', '--map', 'Nr=external_id'];
  const asked = await run(args);
  expect(asked.stderr).toMatch(/^Sheet +Partners$/m);
  expect(asked.stderr).toMatch(/^Header +line 3$/m);
  expect(asked.stderr).toContain('guessed: line 3 names the columns');
  expect(asked.stderr).not.toContain('Separator');
  const done = await run([...args, '--header-row', '3', '--yes', '--partial']);
  expect(done.stdout).toContain('3 lines: 1 created, 0 updated, 0 unchanged, 2 bad');
  expect(done.stdout).toMatch(
    /^2 lines: email must be .*\n {2}line 5: email .*"nobody"\n {2}line 6: email .*"no one"$/m,
  );
  expect(await allOf(api, AFFILIATES)).toMatchObject([{ email: 'ada@example.com', external_id: '0007' }]);
  expect(await run([...args, '--header-row', 'first'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--header-row must be the number of a line, not first'),
  });
});

test('--bad writes the bad lines, with --partial and without', async () => {
  const file = machine.write('bad-people.csv', 'email,country\nada@example.com,ie\nnobody,Nowhere\n');
  const out = join(machine.folder, 'left.csv');
  const known = ['affiliates', 'import', file, '--value', 'country:Nowhere=refuse'];
  const refused = await run([...known, '--bad', out]);
  expect(refused).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('The bad lines are in'),
  });
  const text = readFileSync(out, 'utf8');
  expect(text).toMatch(/^line,error,email,country\r\n3,"?country must be two letters.*nobody,Nowhere\r\n$/);
  const again = await run([...known, '--bad', out, '--partial']);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') });
  const partial = await run([...known, '--partial', '--bad', join(machine.folder, 'left2.csv')]);
  expect(partial).toMatchObject({ code: 1, stdout: expect.stringContaining('1 created') });
});

test('imports are listed, shown and undone', async () => {
  const file = machine.write('one.csv', 'email\nada@example.com\n');
  const { import_id } = await runJson('affiliates', 'import', file);
  const listed = await run(['imports', 'list']);
  expect(listed.stdout).toMatch(new RegExp(`affiliates +completed +1 +1 +0 +one.csv +${import_id}`));
  const shown = await run(['imports', 'show', import_id]);
  expect(shown.stdout).toMatch(/^Lines +1: 1 created, 0 updated, 0 unchanged, 0 bad$/m);
  expect(shown.stdout).toMatch(/^By +.+ \(API key\)$/m);
  const unconfirmed = await run(['imports', 'undo', import_id]);
  expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  expect(await runJson('imports', 'undo', import_id, '--yes')).toMatchObject({ status: 'undone' });
  expect(await allOf(api, AFFILIATES)).toEqual([]);
});

test('bank accounts and tax profiles come in the same file, and no number is printed', async () => {
  const file = example('bank-and-tax.csv');
  const refused = await run(['affiliates', 'import', file]);
  expect(refused.stderr).toMatch(/^IBAN +iban +exact +…3000$/m);
  expect(refused.stderr).toContain('guessed: "Kontoinhaber" is account_holder\n');
  expect(await runJson('affiliates', 'import', file, '--yes')).toMatchObject({ created: 3, failed: 0 });
  const [ada] = await allOf(api, `${AFFILIATES}?sort=id`);
  const { body } = await api.get(`${AFFILIATES}/${ada?.id}/destination`);
  expect(body.destinations).toMatchObject([{ account_holder: 'Ada Lovelace GmbH', last_four: '3000' }]);
  expect(await runJson('affiliates', 'import', file, '--yes')).toMatchObject({ unchanged: 3 });

  const typo = 'DE89370400440532013001';
  const bad = machine.write('bad.csv', `email,account_holder,iban\nada@example.com,Ada,${typo}\n`);
  const wrong = await run(['affiliates', 'import', bad, '--bad', join(machine.folder, 'bad-back.csv')]);
  expect(wrong).toMatchObject({ code: 1, stdout: '' });
  expect(wrong.stderr).toContain('line 2: iban has wrong check digits');
  expect(refused.stderr + wrong.stderr).not.toMatch(/DE89 ?3704/);
  expect(readFileSync(join(machine.folder, 'bad-back.csv'), 'utf8')).toContain(typo);
});

test('files of other products are imported by one command each', async () => {
  const go = (...args: string[]) => runJson(...args, '--yes');
  expect(await go('affiliates', 'import', example('affiliatewp-affiliates.csv'))).toMatchObject({
    created: 3,
  });
  const files: [string, string[], number][] = [
    ['affiliatewp-referrals.csv', ['--paid', 'skip'], 3],
    ['rewardful-commissions.csv', [], 3],
    ['refersion-conversions.csv', ['--paid', 'skip'], 1],
    // the affiliate ids could be ours, so the command asks
    ['slicewp-commissions.csv', ['--map', 'affiliate_id=affiliate_external_id'], 2],
  ];
  for (const [name, options, created] of files) {
    expect(await go('commissions', 'import', example(name), ...options), name).toMatchObject({
      created,
      failed: 0,
    });
  }
  expect(await go('affiliates', 'import', example('bank-and-tax.csv'))).toMatchObject({ failed: 0 });
  expect(await go('affiliates', 'import', example('firstpromoter-promoters.csv'))).toMatchObject({
    created: 3,
  });
  expect(await go('commissions', 'import', example('impact-actions.csv'))).toMatchObject({
    created: 2,
    skipped: 1,
  });
  const dates = ['--dialect', 'dates=dmy'];
  expect(await go('commissions', 'import', example('excel-commissions.csv'), ...dates)).toMatchObject({
    created: 3,
  });
});

test('files of sales and of conversions are imported with a mapping', async () => {
  await makeAffiliate(api, { email: 'ada@example.com', external_id: 'ADA10' });
  const map = (...pairs: string[]) => pairs.flatMap((pair) => ['--map', pair]);
  const files: [string, string[], number][] = [
    ['tapfiliate-conversions.csv', map('commission_amount=amount', 'amount=sale_amount'), 2],
    [
      'dub-commissions.csv',
      [...map('Earnings=amount', 'Amount=sale_amount'), '--value', 'status:processed=unpaid'],
      2,
    ],
    [
      'shopify-orders.csv',
      map(
        'Name=order_id',
        'Discount Code=affiliate_external_id',
        'Subtotal=sale_amount',
        'rate_bps:=1500',
        'Created at=occurred_at',
        'Paid at=ignore',
      ),
      2,
    ],
    [
      'stripe-payments.csv',
      map(
        'affiliate (metadata)=affiliate_external_id',
        'Amount=sale_amount',
        'rate_bps:=2000',
        'Created (UTC)=occurred_at',
      ),
      2,
    ],
  ];
  for (const [name, options, created] of files) {
    const report = await runJson('commissions', 'import', example(name), ...options, '--yes');
    expect(report, name).toMatchObject({ created, failed: 0, payouts: 0 });
  }
  const amounts = (await allOf(api, `${COMMISSIONS}?sort=id`)).map(({ amount }) => amount);
  expect(amounts).toEqual([2000, 800, 2400, 1200, 1500, 899, 980, 980]);
});

test('the command asks for the date of a file and offers the columns with dates', async () => {
  await makeAffiliate(api, { email: 'ada@example.com' });
  const file = machine.write(
    'impact.csv',
    'Action Id,Affiliate Email,Payout,Locking Date,Modified\n1,ada@example.com,5.00,2026-01-31,2026-01-30\n',
  );
  const args = ['commissions', 'import', file, '--yes'];
  await nothingChanges(world, async () => {
    const ran = await run(args);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain('"Locking Date", "Modified" have dates');
    expect(ran.stderr).toContain(
      "say it with --map 'Locking Date=occurred_at' or --map 'Modified=occurred_at'",
    );
  });
  expect(await runJson(...args, '--map', 'Modified=occurred_at')).toMatchObject({ created: 1 });
  expect(await allOf(api, '/v2/affiliates/commissions')).toMatchObject([
    { occurred_at: '2026-01-30T00:00:00.000Z' },
  ]);
});

test('unknown words, status and totals are answered by options', async () => {
  const file = machine.write(
    'partner.csv',
    'Email,Status,Land\na@example.com,aktiv,Hellas\nb@example.com,ruhend,Italien\nSumme,,\n',
  );
  const args = ['affiliates', 'import', file, '--yes'];
  await nothingChanges(world, async () => {
    const ran = await run(args);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^Status +ruhend +1 +not known$/m);
    expect(ran.stderr).toMatch(/^Status +aktiv +1 +active$/m);
    for (const option of [
      "--value 'status:ruhend=inactive'",
      "--value 'country:Hellas=XX' or --value 'country:Hellas=refuse'",
      '--totals skip',
    ])
      expect(ran.stderr).toContain(option);
    const left = await run([...args, '--map', 'Status=ignore']);
    expect(left.stderr).toContain('"Status" may say who must not be paid');
    expect(left.stderr).toContain('--ignore-status');
  });
  const answers = ['--value', 'status:ruhend=inactive', '--value', 'country:Hellas=gr', '--totals', 'skip'];
  expect(await runJson(...args, ...answers)).toMatchObject({ created: 2, skipped: 1, failed: 0 });
  expect(await allOf(api, `${AFFILIATES}?sort=id`)).toMatchObject([
    { status: 'active', country: 'GR' },
    { status: 'inactive', country: 'IT' },
  ]);
  const ran = await run([...args, '--value', 'status']);
  expect(ran).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--value must look like status:gesperrt=inactive'),
  });
});
