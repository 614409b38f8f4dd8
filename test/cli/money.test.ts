import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const machine = useMachine();
const { runJson, refuse, runText } = commandsOf(world, api, machine);

const lines = (text: string) => text.trimEnd().split('\n');

test('commissions are listed as the API lists them, filtered by names that people know', async () => {
  const ada = await makeAffiliate(api, { email: 'ada@example.com', external_id: 'a-1' });
  const { id: bob } = await makeAffiliate(api);
  const program = (await api.post(`${AFFILIATES}/programs`, { name: 'Creators' })).body;
  const old = { occurred_at: '2026-08-31T23:59:59Z', order_id: 'o-1' };
  await makeCommission(api, ada.id, { external_id: 'c-1', currency: 'eur', ...old });
  await makeCommission(api, ada.id, { external_id: 'c-2', occurred_at: '2026-09-01T00:00:00Z' });
  await makeCommission(api, bob, { external_id: 'c-3', program_id: program.id, type: 'bonus', ...old });
  await makePayout(api, { filters: { affiliate_id: bob } });
  const found = async (...options: string[]) =>
    (await runJson('commissions', 'list', '--sort', 'id', ...options)).data.map(
      (each: Json) => each.external_id,
    );
  expect(await found('--affiliate', 'ada@example.com', '--currency', 'EUR', '--order', 'o-1')).toEqual([
    'c-1',
  ]);
  expect(await found('--affiliate', 'a-1', '--since', '2026-09-01')).toEqual(['c-2']);
  expect(await found('--before', '2026-09-01', '--status', 'unpaid', '--payout', 'none')).toEqual(['c-1']);
  expect(await found('--payout', '1', '--program', 'Creators', '--type', 'bonus')).toEqual(['c-3']);
  const page = (await api.get(`${COMMISSIONS}?per_page=2&page=2`)).body;
  expect(await runJson('commissions', 'list', '--per-page', '2', '--page', '2')).toEqual(page);
  expect(lines(await runText('commissions', 'list', '--per-page', '2', '--sort', 'id'))).toEqual([
    'OCCURRED (UTC)    AFFILIATE  TYPE  STATUS  AMOUNT  CURRENCY  EXTERNAL ID',
    expect.stringMatching(new RegExp(`^2026-08-31 23:59 +${ada.id}  sale  unpaid   10\\.00  EUR       c-1$`)),
    expect.stringMatching(new RegExp(`^2026-09-01 00:00 +${ada.id}  sale  unpaid   10\\.00  USD       c-2$`)),
    '3 commissions, page 1 of 2',
  ]);
  expect(await runText('commissions', 'list', '--status', 'voided')).toBe('No commissions found.\n');
  expect(await runText('commissions', 'list', '--page', '7')).toBe(
    'Page 7 is empty: 3 commissions, 1 page\n',
  );
  await refuse(1, 'status must be one of', 'commissions', 'list', '--status', 'owed');
});

test('a commission is shown by its external_id; a name cannot move the cursor', async () => {
  const { id } = await makeAffiliate(api);
  const sale = { external_id: 'c 1', sale_amount: 31_900, rate_bps: 1250, product_name: 'Mug\u001B[2J 由紀' };
  const made = await makeCommission(api, id, sale);
  const text = await runText('commissions', 'show', 'c 1');
  expect(text).toContain(`${made.id}  sale  unpaid\n10.00 USD\n`);
  expect(text).toMatch(/^Sale +319\.00 USD$/m);
  expect(text).toMatch(/^Rate +12\.5 %$/m);
  expect(text).toMatch(/^Product +Mug\uFFFD\[2J 由紀$/m);
  expect(await runJson('commissions', 'show', made.id)).toEqual(made);
  await refuse(1, 'there is no commission nothing', 'commissions', 'show', 'nothing');
});

test('a refund takes the typed amount in the digits of the currency, and its repetition takes nothing', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { external_id: 'usd', amount: 3190, sale_amount: 31_900 });
  await makeCommission(api, id, { external_id: 'jpy', amount: 500, currency: 'jpy' });
  await makeCommission(api, id, { external_id: 'kwd', amount: 5000, currency: 'kwd' });
  const refund = (reference: string, ...rest: string[]) =>
    ['commissions', 'refund', reference, '--external-id', `r-${reference}`, '--yes', ...rest] as const;
  for (let time = 0; time < 2; time += 1) {
    expect(await runText(...refund('usd', '--amount', '12.5'))).toBe('12.50 USD of usd: 19.40 USD is left\n');
  }
  expect(await runJson(...refund('kwd', '--amount', '1.234'))).toMatchObject({
    amount: 1234,
    commission: { amount: 3766 },
    clawback: null,
  });
  expect(await runText(...refund('jpy'))).toBe('500 JPY of jpy: it is voided\n');
  const more = ['commissions', 'refund', 'usd', '--external-id', 'r-2', '--yes'];
  expect(await runJson(...more, '--sale-amount', '100')).toMatchObject({ amount: 1000 });
  const other = ['commissions', 'refund', 'usd', '--external-id', 'r-3', '--yes'];
  await refuse(2, '--amount must be an amount in USD', ...other, '--amount', '12,50');
  await refuse(2, 'with at most 2 digits after the point, not 1.234', ...other, '--amount', '1.234');
  await refuse(2, 'with no digits after the point', ...refund('jpy', '--amount', '1.5'));
  await refuse(2, '--amount must be from 0.01 to 10000000000.00 USD, not -1', ...other, '--amount', '-1');
  await refuse(2, 'give --amount or --sale-amount', ...other, '--amount', '1', '--sale-amount', '1');
  await refuse(
    1,
    'the remaining amount: 9.40 USD of usd, of a sale of 319.00 USD',
    ...other,
    '--amount',
    '9.41',
  );
});

test('a refund of a paid commission reduces the next payout', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { external_id: 'c-1', amount: 1000 });
  await completePayout(api, await makePayout(api));
  const refund = ['commissions', 'refund', 'c-1', '--external-id', 'r-1', '--amount', '4', '--yes'];
  expect(await runText(...refund)).toBe(
    `4.00 USD of c-1: it was paid, so -4.00 USD goes into the next payout of affiliate ${id}\n`,
  );
  const clawback = (await runJson('commissions', 'list', '--type', 'clawback')).data[0];
  expect(clawback).toMatchObject({ amount: -400, external_id: expect.stringContaining('r-1') });
  expect(await runText('commissions', 'list', '--type', 'clawback')).toMatch(
    / clawback {2}unpaid {3}-4\.00 {2}USD /,
  );
});

test('an order is refunded in the currency of its commission; with two currencies the command asks for one', async () => {
  const { id } = await makeAffiliate(api);
  const [mug, cup] = [{ product_id: 'mug' }, { product_id: 'cup' }];
  await makeCommission(api, id, { order_id: 'o-1', amount: 500, currency: 'jpy', ...mug });
  await makeCommission(api, id, { order_id: 'o-1', amount: 1000, ...cup });
  const refund = (externalId: string, ...rest: string[]) =>
    ['refunds', 'create', '--order', 'o-1', '--external-id', externalId, '--yes', ...rest] as const;
  await refuse(2, 'commissions in JPY, USD', ...refund('r-1', '--amount', '5'));
  const byProduct = refund('r-1', '--product', 'mug', '--amount', '100');
  for (let time = 0; time < 2; time += 1) {
    expect(await runJson(...byProduct)).toMatchObject({
      refunds: [{ amount: 100, commission: { amount: 400 } }],
    });
  }
  const rest = lines(await runText(...refund('r-2')));
  expect(rest).toEqual([
    expect.stringMatching(/^400 JPY of \S+: it is voided$/),
    expect.stringMatching(/^10\.00 USD of \S+: it is voided$/),
  ]);
  // nothing is left of the order: the refund that took it still finds its currency
  expect(await runJson(...byProduct)).toMatchObject({
    refunds: [{ amount: 100, commission: { amount: 400 } }],
  });
});

test('lines of an order are refunded by name, waiting refunds are shown, and a mistake is reversed', async () => {
  const { id } = await makeAffiliate(api);
  const sale = { order_id: 'o-1', amount: 1000, sale_amount: 10_000 };
  await makeCommission(api, id, { ...sale, external_id: 'c-mug', order_line_id: 'mug' });
  await makeCommission(api, id, { ...sale, external_id: 'c-pot', order_line_id: 'pot' });
  const refund = (externalId: string, ...rest: string[]) =>
    ['refunds', 'create', '--order', 'o-1', '--external-id', externalId, '--yes', ...rest] as const;
  await refuse(1, 'order_line_id mug', ...refund('r-0', '--sale-amount', '5'));
  await refuse(2, '--currency', ...refund('r-0', '--line', 'plate=5'));
  await refuse(2, '--line', ...refund('r-0', '--line', 'mug', '--amount', '5'));
  expect(lines(await runText(...refund('r-1', '--line', 'mug=25.00', '--line', 'plate')))).toEqual([
    '2.50 USD of c-mug: 7.50 USD is left',
    'line plate, all: waiting for its commission',
  ]);
  expect(await runText('refunds', 'list', '--status', 'waiting')).toMatch(/ waiting +2\.50 USD +o-1 +r-1\n/);
  expect(await runText('refunds', 'show', 'r-1')).toContain('line mug, 25.00 USD of the sale: applied');
  await refuse(1, 'no such refund', 'refunds', 'show', 'r-2');
  expect(await runText('refunds', 'reverse', 'r-1', '--yes')).toBe('Reversed r-1.\n');
  expect(await runJson('commissions', 'show', 'c-mug')).toMatchObject({ amount: 1000, refunded_amount: 0 });
  const other = ['refunds', 'create', '--order', 'o-2', '--external-id', 'r-3', '--yes'];
  expect(await runText(...other)).toBe('the order, all: waiting for its commission\n');
});

test('voiding, holding and releasing print the new state of the commission', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { external_id: 'c-1' });
  const name = `10.00 USD of c-1 (sale, affiliate ${id})`;
  expect(await runText('commissions', 'hold', 'c-1')).toContain(`${name} is held for review`);
  expect(await runText('commissions', 'list', '--status', 'pending')).toMatch(/ sale {2}held /);
  expect(await runText('commissions', 'unhold', 'c-1')).toBe(`${name} is unpaid.\n`);
  const fraud = ['--reason', 'self-referral', '--yes'];
  expect(await runJson('commissions', 'void', 'c-1', ...fraud)).toMatchObject({
    status: 'voided',
    void_reason: 'self-referral',
  });
  await refuse(1, 'the commission is voided', 'commissions', 'void', 'c-1', ...fraud);
});

test('an adjustment is in the named currency, or in that of the account', async () => {
  const { id } = await makeAffiliate(api, { external_id: 'a-1' });
  await api.patch('/v2/account', { default_currency: 'jpy' });
  const adjust = (externalId: string, amount: string, ...rest: string[]) =>
    [
      'affiliates',
      'adjust',
      'a-1',
      '--external-id',
      externalId,
      '--reason',
      'by hand',
      '--amount',
      amount,
    ].concat(rest, '--yes') as string[];
  for (let time = 0; time < 2; time += 1) {
    expect(await runJson(...adjust('h-1', '-12.50', '--currency', 'EUR'))).toMatchObject({
      type: 'adjustment',
      affiliate_id: id,
      amount: -1250,
      currency: 'eur',
      description: 'by hand',
    });
  }
  expect(await runText(...adjust('h-2', '500'))).toMatch(
    /^500 JPY for affiliate \d+ \(h-2, com_[0-9a-f]{32}\)\.\n$/,
  );
  await refuse(2, '--amount must not be 0', ...adjust('h-3', '0'));
  await refuse(2, '--amount must be an amount in JPY', ...adjust('h-3', '1.5'));
  await refuse(2, '--currency must be an ISO 4217 currency code', ...adjust('h-3', '1', '--currency', 'xyz'));
  const balance = await runText('affiliates', 'show', 'a-1');
  expect(balance).toMatch(/^EUR +0\.00 +-12\.50 +0\.00 +0\.00$/m);
  expect(balance).toMatch(/^JPY +0 +500 +0 +0$/m);
});

test('returned money is booked once, and the line of the payout shows it', async () => {
  const { id } = await makeAffiliate(api, { email: 'ada@example.com', name_first: 'Ada' });
  const { id: other } = await makeAffiliate(api);
  for (const affiliate of [id, other]) await makeCommission(api, affiliate);
  const payout = await makePayout(api);
  await completePayout(api, payout, [
    { affiliate_id: id, is_paid: true },
    { affiliate_id: other, is_paid: false },
  ]);
  const returned = (who: string) => ['payouts', 'returned', '1', who, '--reason', 'closed', '--yes'] as const;
  expect(await runJson(...returned('ada@example.com'), '--reference', 'R-1')).toMatchObject({
    affiliate_id: id,
    returned_amount: 1000,
  });
  await refuse(1, 'is already booked as returned', ...returned(String(id)));
  await refuse(1, 'the affiliate was not paid in this payout', ...returned(String(other)));
  await refuse(1, 'affiliate 999999999 is not in payout 1', ...returned('999999999'));
  expect(await runText('payouts', 'show', '1')).toMatch(/ Ada .+ 10\.00 {2}USD +yes, returned$/m);
  expect(await runText('payouts', 'affiliates', '1', '--unpaid')).toMatch(/ 10\.00 {2}USD +no, released$/m);
  expect((await runJson('payouts', 'affiliates', '1', '--paid')).data).toHaveLength(1);
});

test('money is returned in parts of one currency, is listed, and a mistaken return is undone', async () => {
  const { id } = await makeAffiliate(api, { email: 'ada@example.com', name_first: 'Ada' });
  for (const currency of ['usd', 'kwd']) await makeCommission(api, id, { currency, amount: 5000 });
  await completePayout(api, await makePayout(api), [{ affiliate_id: id, is_paid: true }]);
  const returned = (...part: string[]) => ['payouts', 'returned', '1', String(id), ...part, '--yes'];
  const why = ['--reason', 'a fee'];
  const list = ['payouts', 'returns', 'list', '1', 'ada@example.com'];
  expect(await runText(...list)).toBe('No returns found.\n');
  expect(await runText(...returned('--currency', 'USD', '--amount', '12.50', ...why))).toBe(
    `12.50 USD came back from affiliate ${id} (Ada) and is owed again.\n`,
  );
  expect(await runText(...returned('--currency', 'usd', ...why))).toContain('37.50 USD came back');
  await refuse(2, 'give the --currency of the --amount: kwd or usd', ...returned('--amount', '1', ...why));
  await refuse(
    2,
    '--amount must be an amount in KWD',
    ...returned('--currency', 'kwd', '--amount', '1.2345', ...why),
  );
  await refuse(1, '(5.000 KWD)', ...returned('--currency', 'kwd', '--amount', '5.001', ...why));
  expect(await runText('payouts', 'show', '1')).toMatch(/ 50\.00 {2}USD +yes, returned$/m);

  const [, first] = (await runJson(...list, '--currency', 'usd')).data;
  expect(first).toMatchObject({ object: 'payout_return', amount: 1250, undone_at: null });
  expect(await runText(...list)).toMatch(new RegExp(`^${first.id} .+ 12\\.50  USD +- +a fee$`, 'm'));
  const undo = ['payouts', 'returns', 'undo', '1', 'ada@example.com'];
  await refuse(2, 'add --yes', ...undo, first.id);
  await refuse(1, 'no such return', ...undo, `ret_${'0'.repeat(32)}`, '--yes');
  expect(await runJson(...undo, first.id, '--yes')).toEqual({
    id: first.id,
    object: 'payout_return',
    undone: true,
  });
  await refuse(1, 'already undone', ...undo, first.id, '--yes');
  expect(await runText(...list)).not.toMatch(new RegExp(`^${first.id} .+ - +a fee$`, 'm'));
  expect(await runText('payouts', 'show', '1')).toMatch(/ 50\.00 {2}USD +yes, 37\.50 returned$/m);
});

test('affiliates left out of a payout are listed with the reason', async () => {
  const { id: little } = await makeAffiliate(api, { minimum_payout: { usd: 5000 } });
  const { id: much } = await makeAffiliate(api);
  await makeCommission(api, little, { amount: 4999 });
  await makeCommission(api, much);
  await makePayout(api);
  expect(await runText('payouts', 'show', 'current')).toContain('To list them: payhook payouts excluded 1\n');
  expect(await runText('payouts', 'excluded', '1')).toMatch(
    new RegExp(`^ +${little}  below minimum +1 +49\\.99  USD\n1 exclusion, page 1 of 1$`, 'm'),
  );
  const page = (await api.get(`${PAYOUTS}/current/excluded`)).body;
  expect(await runJson('payouts', 'excluded', 'current', '--affiliate', String(little))).toEqual(page);
  expect(await runText('payouts', 'excluded', '1', '--reason', 'on_hold')).toBe('No exclusions found.\n');
});

test('an affiliate is created, changed and found; an empty text clears a field, unnamed fields stay', async () => {
  const made = await runJson(
    ...[
      'affiliates',
      'create',
      '--email',
      'ada@example.com',
      '--name-first',
      '由紀',
      '--name-last',
      'O’Neil',
    ],
    ...[
      '--payout-method',
      'paypal',
      '--paypal-email',
      'pay@example.com',
      '--no-ready',
      '--minimums',
      'usd=50,jpy=500',
    ],
  );
  const [listed] = (await api.get(AFFILIATES)).body.data;
  expect({
    ...made,
    balance: [],
    last_paid_at: null,
    destination_type: null,
    paid_through: 'paypal',
    has_tax_profile: false,
  }).toEqual(listed);
  expect(made).toMatchObject({
    name_first: '由紀',
    is_ready_for_payout: false,
    minimum_payout: { usd: 5000, jpy: 500 },
  });
  const change = ['affiliates', 'change', 'ada@example.com'];
  expect(
    await runJson(
      ...change,
      '--paypal-email',
      '',
      '--payout-method',
      'none',
      '--ready',
      '--minimums',
      'none',
    ),
  ).toMatchObject({
    name_first: '由紀',
    paypal_email: null,
    payout_method: null,
    is_ready_for_payout: true,
    minimum_payout: null,
  });
  await refuse(2, 'nothing to change', ...change);
  await refuse(2, '--minimums must look like usd=50.00', ...change, '--minimums', 'usd');
  await refuse(1, 'there is no affiliate bob@example.com', 'affiliates', 'show', 'bob@example.com');
  const name = 'Wolfeschlegelsteinhausenbergerdorff';
  await makeAffiliate(api, { name_last: name, email: 'wolfe@example.com', external_id: 'w-1' });
  expect(lines(await runText('affiliates', 'list', '--sort', 'id'))).toEqual([
    expect.stringMatching(
      /^ *ID {2}NAME {28}E-MAIL {13}UNPAID {2}LAST PAID {2}METHOD {2}READY {2}STATUS {2}EXTERNAL ID$/,
    ),
    expect.stringMatching(/^ *\d+ {2}由紀 O’Neil {21}ada@example\.com {31}yes {4}active$/),
    expect.stringMatching(
      /^ *\d+ {2}Wolfeschlegelsteinhausenberge… {2}wolfe@example\.com {29}yes {4}active {2}w-1$/,
    ),
    '2 affiliates, page 1 of 1',
  ]);
  expect((await runJson('affiliates', 'list', '--search', 'wolfe')).pagination.total).toBe(1);
});

test('programs and the account are created and changed', async () => {
  const program = await runJson('programs', 'create', '--name', 'Creators', '--hold-days', '30');
  expect(program).toMatchObject({ name: 'Creators', hold_days: 30 });
  const change = ['programs', 'change', 'Creators'];
  expect(await runJson(...change, '--hold-days', 'account')).toMatchObject({
    id: program.id,
    hold_days: null,
  });
  expect(await runText('programs', 'list')).toMatch(
    /^ *\d+ {2}Creators {2}the account's {2}20.+\n1 program, /m,
  );
  await refuse(2, '--hold-days must be a whole number from 0 to 3650', ...change, '--hold-days', '-1');

  const settings = ['--currency', 'EUR', '--hold-days', '14', '--minimums', 'eur=50.00,jpy=5000'];
  expect(await runJson('account', 'change', ...settings)).toMatchObject({
    default_currency: 'eur',
    hold_days: 14,
    minimum_payout: { eur: 5000, jpy: 5000 },
  });
  expect(await runText('account', 'show')).toMatch(
    /^Currency +EUR\nHold +14 days\nMinimums +50\.00 EUR, 5000 JPY$/m,
  );
  expect(await runJson('account', 'change', '--minimums', 'none')).toMatchObject({
    minimum_payout: {},
    hold_days: 14,
  });
  await refuse(2, '--minimums names eur twice', 'account', 'change', '--minimums', 'eur=1,EUR=2');
});

test("the report of a year is the API's file, readable by its owner only, and overwrites nothing", async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id);
  const { paid_at } = await completePayout(api, await makePayout(api));
  const year = paid_at.slice(0, 4);
  const file = `exports/paid-${year}.csv`;
  const report = (await api.get(`${AFFILIATES}/reports/paid?year=${year}`)).text;
  expect(await runJson('reports', 'paid', '--year', year)).toEqual({
    file,
    bytes: Buffer.byteLength(report),
    year: Number(year),
    from: null,
    to: null,
  });
  const days = ['--from', `${year}-01-01`, '--to', `${year}-12-31`];
  const named = `exports/paid-from-${year}-01-01-to-${year}-12-31.csv`;
  expect(await runText('reports', 'paid', ...days)).toBe(`${named}\n`);
  expect(readFileSync(join(machine.folder, named), 'utf8')).toContain(`,${id},`);
  await refuse(1, 'give a year, or from and to', 'reports', 'paid', '--year', year, '--to', `${year}-01-01`);
  expect(readFileSync(join(machine.folder, file), 'utf8')).toBe(report);
  expect(statSync(join(machine.folder, file)).mode & 0o777).toBe(0o600);
  await refuse(1, `${file} exists: add --force`, 'reports', 'paid', '--year', year);
  expect(await runText('reports', 'paid', '--year', year, '-o', '-')).toBe(report);
  await refuse(1, 'year must be four digits', 'reports', 'paid', '--year', '26');
});

test('--paid-at sets when a payout was paid; a day is a day of the account', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id);
  await makePayout(api);
  expect(await runJson('account', 'change', '--time-zone', 'pacific/kiritimati')).toMatchObject({
    time_zone: 'Pacific/Kiritimati',
  });
  expect(await runText('account', 'show')).toMatch(/^Time zone +Pacific\/Kiritimati$/m);
  await refuse(
    1,
    'time_zone must be the name of an IANA time zone',
    'account',
    'change',
    '--time-zone',
    'UTC+1',
  );
  const complete = ['payouts', 'complete', '1', '--all-paid', '--also-without-file', '--yes'];
  await refuse(1, 'paid_at must be an RFC 3339 instant or a day', ...complete, '--paid-at', 'today');
  await refuse(
    1,
    'paid_at must not be before the payout was created',
    ...complete,
    '--paid-at',
    '2000-01-01',
  );
  await refuse(1, 'paid_at must not be in the future', ...complete, '--paid-at', '2999-12-31');
  const { created_at } = (await api.get(`${PAYOUTS}/current`)).body;
  expect(await runJson(...complete, '--paid-at', created_at)).toMatchObject({ paid_at: created_at });
});

test('an affiliate has a legal type and a country', async () => {
  const fields = ['--legal-type', 'business', '--country', 'ie'];
  const made = await runJson('affiliates', 'create', '--email', 'ada@example.com', ...fields);
  expect(made).toMatchObject({ legal_type: 'business', country: 'IE' });
  expect(await runText('affiliates', 'show', 'ada@example.com')).toMatch(
    /^Legal type +business\nCountry +IE$/m,
  );
  const cleared = ['--legal-type', 'none', '--country', ''];
  expect(await runJson('affiliates', 'change', 'ada@example.com', ...cleared)).toMatchObject({
    legal_type: null,
    country: null,
  });
  await refuse(1, 'country', 'affiliates', 'change', 'ada@example.com', '--country', 'Ireland');
});

test('commands that take money back or cannot be undone need --yes without a terminal', async () => {
  const { id } = await makeAffiliate(api, { external_id: 'a-1' });
  await makeCommission(api, id, { external_id: 'c-1', order_id: 'o-1' });
  for (const args of [
    ['commissions', 'refund', 'c-1', '--external-id', 'r-1'],
    ['commissions', 'void', 'c-1', '--reason', 'x'],
    ['refunds', 'create', '--order', 'o-1', '--external-id', 'r-1'],
    ['affiliates', 'adjust', 'a-1', '--amount', '1', '--reason', 'x', '--external-id', 'h-1'],
    ['payouts', 'returned', '1', 'a-1', '--reason', 'x'],
  ])
    await refuse(2, 'add --yes', ...args);
});
