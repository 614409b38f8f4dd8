import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { rounds, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { expectProperty } from '../support/properties.ts';
import { NOTE_MADE } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  expectRefusal,
  type Json,
  MISSING,
  madeOnce,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
let api: Api;
beforeEach(async () => {
  api = await world.otherAccount();
});

const FORMATS = ['summary', 'paypal', 'wise'];
const WISE_HEADER =
  'name,recipientEmail,paymentReference,receiverType,amountCurrency,amount,sourceCurrency,targetCurrency';

const ask = (payout: string, format: string, query = '') =>
  api.get(`${PAYOUTS}/${payout}/payment-files/${format}${query && `?${query}`}`);

/** A download that must succeed. */
async function get(payout: string, format: string, query = ''): Promise<Answer> {
  const answer = await ask(payout, format, query);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

const lines = (...rows: string[]) => rows.map((row) => `${row}\r\n`).join('');
const nameOf = ({ headers }: Answer) =>
  /^attachment; filename="([^"]+)"$/.exec(headers.get('content-disposition') ?? '')?.[1];
const skippedIn = ({ headers }: Answer) => headers.get('payhook-skipped-affiliates');

/** An affiliate PayPal can pay. */
const makePayPal = (fields: object = {}) =>
  makeAffiliate(api, { paypal_email: 'pay@example.com', ...fields });
/** An affiliate Wise can pay. */
const makeWise = (fields: object = {}) =>
  makeAffiliate(api, { payout_method: 'wise', name_first: 'Zoë', name_last: 'Okafor', ...fields });

/** An account with an unpaid payout to one of them. */
const onePayPal = madeOnce(async () => {
  await makeCommission(api, (await makePayPal()).id);
  await makePayout(api);
  return api;
});

/** Inserts this many affiliates, each with one commission of 1.00, without the API. */
async function seed(count: number, fields: Readonly<Record<string, string>>): Promise<void> {
  const account = (await api.get('/v2/account')).body.id.slice(4);
  const names = Object.keys(fields);
  await world.query(
    `with person as (
       insert into affiliates (account_id, email, ${names.join(', ')})
       select $1, 'seed-' || n || '@example.com', ${names.map((_, index) => `$${index + 3}`).join(', ')}
       from generate_series(1, $2::int) n returning id),
     made as (
       insert into commissions (account_id, external_id, affiliate_id, type, currency, amount, original_amount,
         occurred_at, available_at)
       select $1, 'seed-' || id, id, 'sale', 'usd', 100, 100, '2025-01-01', '2025-01-01' from person returning *),
     ${NOTE_MADE}`,
    [account, count, ...Object.values(fields)],
  );
}

describe('each format, to the byte', () => {
  test('PayPal: no header, recipient, amount, currency, reference, note and wallet', async () => {
    const ada = await makePayPal({ paypal_email: 'ada@pay.example', payout_method: 'paypal' });
    const bob = await makePayPal({ paypal_email: 'bob@pay.example', payout_method: null });
    // a name that was allowed once
    await world.query('update affiliates set paypal_email = $1 where id = $2', [
      'bob,"b"@pay.example',
      bob.id,
    ]);
    await makeCommission(api, bob.id, { amount: 5 });
    await makeCommission(api, ada.id, { amount: 3190 });
    await makeCommission(api, ada.id, { amount: 10 });
    const payout = await makePayout(api);
    const file = await get(payout.id, 'paypal');
    expect(file.text).toBe(
      lines(
        `ada@pay.example,32.00,USD,P1-A${ada.id},Affiliate payout 1,PAYPAL`,
        `"bob,""b""@pay.example",0.05,USD,P1-A${bob.id},Affiliate payout 1,PAYPAL`,
      ),
    );
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(nameOf(file)).toBe(`payout-1-r1-${payout.as_of.slice(0, 10)}-paypal-usd.csv`);
    expect(file.headers.get('etag')).toBe('"1"');
    expect(skippedIn(file)).toBe('0');
  });

  test('Wise: its template, the target amount fixed, paid from the same currency or the named one', async () => {
    const zoe = await makeWise({ email: 'zoe@example.com' });
    const bob = await makeWise({ email: 'bob@example.com', name_first: null, name_last: 'Bob "B", Ltd' });
    await makeCommission(api, zoe.id, { amount: 3190, currency: 'eur' });
    await makeCommission(api, bob.id, { amount: 1, currency: 'eur' });
    const payout = await makePayout(api);
    const expected = (source: string) =>
      lines(
        WISE_HEADER,
        `Zoë Okafor,zoe@example.com,P1-A${zoe.id},PERSON,target,31.90,${source},EUR`,
        `"Bob ""B"", Ltd",bob@example.com,P1-A${bob.id},PERSON,target,0.01,${source},EUR`,
      );
    const file = await get(payout.id, 'wise');
    expect(file.text).toBe(expected('EUR'));
    expect(nameOf(file)).toBe(`payout-1-r1-${payout.as_of.slice(0, 10)}-wise-eur.csv`);
    expect((await get(payout.id, 'wise', 'source_currency=usd')).text).toBe(expected('USD'));
    expect((await get(payout.id, 'wise', 'currency=EUR&source_currency=GBP')).text).toBe(expected('GBP'));
  });

  test('Wise to an IBAN: the account in place of a link by e-mail, and the address if dollars are paid from', async () => {
    const bank = (id: number, account_holder: string, iban: string) =>
      api.put(`${AFFILIATES}/${id}/destination`, { type: 'wise_bank', account_holder, iban });
    const zoe = await makeWise({ email: 'zoe@example.com' });
    const bob = await makeAffiliate(api, { email: 'bob@example.com', legal_type: 'business' });
    const [by_mail, formula] = [await makeWise(), await makeAffiliate(api)];
    for (const [{ id }, amount] of [
      [zoe, 3190],
      [bob, 1],
      [by_mail, 500],
      [formula, 70],
    ] as const)
      await makeCommission(api, id, { amount, currency: 'eur' });
    await makeCommission(api, zoe.id, { amount: 900, currency: 'usd' });
    expect((await bank(zoe.id, 'Zoë Okafor', 'FR7630006000011234567890189')).status).toBe(200);
    expect((await bank(bob.id, 'Bob, Ltd', 'DE89370400440532013000')).status).toBe(200);
    expect((await bank(formula.id, '-Sum', 'DE89370400440532013000')).status).toBe(200);
    const address = { line1: '1, Rue X', city: 'Paris', postal_code: '75001' };
    const profile = { legal_type: 'person', legal_name: 'Zoë', country: 'FR', address };
    expect((await api.put(`${AFFILIATES}/${zoe.id}/tax-profile`, profile)).status).toBe(200);
    const payout = await makePayout(api);
    const header =
      'name,recipientEmail,paymentReference,referenceNumber,receiverType,amountCurrency,amount,sourceCurrency,targetCurrency,IBAN';
    const expected = (source: string, [columns, ofZoe, ofBob] = ['', '', '']) =>
      lines(
        `${header}${columns}`,
        `Zoe Okafor,zoe@example.com,P1-A${zoe.id},,PERSON,target,31.90,${source},EUR,FR7630006000011234567890189${ofZoe}`,
        `"Bob, Ltd",bob@example.com,P1-A${bob.id},,INSTITUTION,target,0.01,${source},EUR,DE89370400440532013000${ofBob}`,
      );
    expectRefusal(
      await ask(payout.id, 'wise_bank'),
      400,
      'affiliates_not_in_file',
      `payout_method is wise (affiliates ${by_mail.id})`,
      `account_holder begins like a formula, which a spreadsheet would run (affiliates ${formula.id})`,
    );
    const file = await get(payout.id, 'wise_bank', 'allow_skipped=true');
    expect(file.text).toBe(expected('EUR'));
    expect(nameOf(file)).toBe(`payout-1-r1-${payout.as_of.slice(0, 10)}-wise_bank-eur.csv`);
    expect(skippedIn(file)).toBe('2');
    expect((await get(payout.id, 'wise_bank', 'allow_skipped=true&source_currency=usd')).text).toBe(
      expected('USD', [
        ',addressCountryCode,addressCity,addressFirstLine,addressState,addressPostCode',
        ',FR,Paris,"1, Rue X",,75001',
        ',,,,,',
      ]),
    );
    // each affiliate is in one file of its currency
    const { files } = (await api.get(`${PAYOUTS}/${payout.id}/payment-files`)).body;
    expect(
      files.map(({ format, currency, amount, skipped_amount }: Json) => [
        ...[format, currency, amount, skipped_amount],
      ]),
    ).toEqual([
      ['wise', 'eur', 500, 0],
      ['wise_bank', 'eur', 3191, 70],
      ['wise_bank', 'usd', 0, 900],
    ]);
    await completePayout(api, payout);
    expect((await get(payout.id, 'wise_bank', 'allow_skipped=true')).text).toContain('Zoe Okafor');
  });

  test('summary: everyone in every currency, with texts that cannot run as formulas', async () => {
    const ada = await makeAffiliate(api, {
      email: '+ada@example.com',
      external_id: 'ada-1',
      name_first: '=Ada',
      name_last: 'Lovelace',
      paypal_email: '-pay@example.com',
      payout_method: 'other',
    });
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    for (const [affiliate, amount, currency] of [
      [bob, 1234, 'kwd'],
      [ada, 3190, 'usd'],
      [ada, 10, 'usd'],
      [ada, 500, 'jpy'],
    ] as const)
      await makeCommission(api, affiliate.id, { amount, currency });
    const payout = await makePayout(api);
    const header =
      'payout_id,payout_number,payout_status,affiliate_id,name_first,name_last,email,payout_method,paypal_email,' +
      'currency,amount,commission_count,reference,payment_reference,paid_at';
    const expected = (status: string, paidAt: string, reference: string) => {
      const head = `${payout.id},1,${status}`;
      const known = `'=Ada,Lovelace,'+ada@example.com,other,'-pay@example.com`;
      return lines(
        header,
        `${head},${ada.id},${known},JPY,500,1,P1-A${ada.id},${reference},${paidAt}`,
        `${head},${ada.id},${known},USD,32.00,2,P1-A${ada.id},${reference},${paidAt}`,
        `${head},${bob.id},,,bob@example.com,,,KWD,1.234,1,P1-A${bob.id},,${paidAt}`,
      );
    };
    const file = await get(payout.id, 'summary');
    expect(file.text).toBe(expected('unpaid', '', ''));
    const day = payout.as_of.slice(0, 10);
    expect([nameOf(file), skippedIn(file)]).toEqual([`payout-1-r1-${day}-summary.csv`, '0']);
    const paid = await completePayout(api, payout, [
      { affiliate_id: ada.id, is_paid: true, payment_reference: '=tx 1' },
      { affiliate_id: bob.id, is_paid: true },
    ]);
    const after = await get(payout.id, 'summary');
    expect(after.text).toBe(expected('paid', paid.paid_at, "'=tx 1"));
    expect([nameOf(after), after.headers.get('etag')]).toEqual([`payout-1-r2-${day}-summary.csv`, '"2"']);
  });

  test('amounts have the digits of their currency; PayPal gets whole amounts where it accepts no others', async () => {
    const someone = await makePayPal();
    const other = await makeWise({ email: 'w@example.com' });
    for (const [currency, amount] of [
      ['usd', 100],
      ['jpy', 1500],
      ['huf', 150_000],
      ['twd', 7000],
    ] as const)
      await makeCommission(api, someone.id, { currency, amount });
    for (const [currency, amount] of [
      ['jpy', 1500],
      ['huf', 150_000],
    ] as const)
      await makeCommission(api, other.id, { currency, amount });
    const { id } = await makePayout(api);
    const amountIn = async (format: string, currency: string, column: number) =>
      parseCsv((await get(id, format, `currency=${currency}&allow_skipped=true`)).text).at(-1)?.[column];
    expect(await amountIn('paypal', 'usd', 1)).toBe('1.00');
    expect(await amountIn('paypal', 'jpy', 1)).toBe('1500');
    expect(await amountIn('paypal', 'huf', 1)).toBe('1500');
    expect(await amountIn('paypal', 'twd', 1)).toBe('70');
    expect(await amountIn('wise', 'jpy', 5)).toBe('1500');
    expect(await amountIn('wise', 'huf', 5)).toBe('1500.00');
  });

  test('`current` works in place of the id', async () => {
    const { id } = await makePayPal();
    await makeCommission(api, id);
    const payout = await makePayout(api);
    for (const format of ['summary', 'paypal'])
      expect((await get('current', format)).text).toBe((await get(payout.id, format)).text);
    await completePayout(api, payout);
    expectRefusal(await ask('current', 'paypal'), 404, 'no_current_payout');
  });
});

describe('which file an affiliate is in', () => {
  // destination: method, paypal_email and name -> the file the affiliate is in, and why not in the others
  const PAYPAL = { paypal_email: 'pay@example.com' };
  const NAME = { name_first: 'Zoë' };
  test.each<[string, object, 'paypal' | 'wise' | 'neither', string, string]>([
    [
      'PayPal with an address',
      { payout_method: 'paypal', ...PAYPAL },
      'paypal',
      '',
      'payout_method is paypal',
    ],
    ['PayPal with a name too', { payout_method: 'paypal', ...PAYPAL, ...NAME }, 'paypal', '', 'is paypal'],
    ['PayPal without an address', { payout_method: 'paypal' }, 'neither', 'no paypal_email', 'is paypal'],
    ['no method, an address', { ...PAYPAL, ...NAME }, 'paypal', '', 'the paypal_email makes it paypal'],
    ['no method, no address', NAME, 'neither', 'no paypal_email', 'no payout_method'],
    ['Wise with a name', { payout_method: 'wise', ...NAME }, 'wise', 'payout_method is wise', ''],
    ['Wise with an address too', { payout_method: 'wise', ...PAYPAL, ...NAME }, 'wise', 'is wise', ''],
    ['Wise with a last name only', { payout_method: 'wise', name_last: 'Li' }, 'wise', 'is wise', ''],
    ['Wise without a name', { payout_method: 'wise', ...PAYPAL }, 'neither', 'is wise', 'no name'],
    ['Wise with a blank name', { payout_method: 'wise', name_first: ' ' }, 'neither', 'is wise', 'no name'],
    ['another way', { payout_method: 'other', ...PAYPAL, ...NAME }, 'neither', 'is other', 'is other'],
  ])('%s', async (_, fields, file, whyNotPayPal, whyNotWise) => {
    const { id } = await makeAffiliate(api, fields);
    await makeCommission(api, id);
    const payout = await makePayout(api);
    for (const [format, why] of [
      ['paypal', whyNotPayPal],
      ['wise', whyNotWise],
    ] as const) {
      const answer = await ask(payout.id, format);
      if (file === format) expect(parseCsv(answer.text).at(-1)).toContain(`P1-A${id}`);
      else expectRefusal(answer, 400, 'empty_payment_file', `${why} (affiliates ${id})`);
    }
    expect((await get(payout.id, 'summary')).text).toContain(`P1-A${id}`);
  });

  const SIGNS = [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    '＝',
    '＋',
    '－',
    '＠',
    ' =',
    '\u00a0+',
    '\u3000＝',
    ' \n-',
  ];
  test.each(someOf(SIGNS, 2))(
    'no file has an address or name that begins with %j: it is not altered, its affiliate is left out',
    async (sign) => {
      const inMail = /^[=+-]$/.test(sign) ? sign : '=';
      const address = `${inMail}1@example.com`;
      const good = [await makePayPal(), await makeWise()];
      const bad = [
        await makePayPal({ paypal_email: address }),
        await makeWise({ name_first: `${sign}Zoë` }),
        await makeWise({ email: address }),
      ];
      for (const { id } of [...good, ...bad]) await makeCommission(api, id);
      const payout = await makePayout(api);
      const formula = 'begins like a formula, which a spreadsheet would run';
      expectRefusal(
        await ask(payout.id, 'paypal'),
        400,
        'affiliates_not_in_file',
        `paypal_email ${formula} (affiliates ${bad[0]?.id})`,
      );
      expectRefusal(
        await ask(payout.id, 'wise'),
        400,
        'affiliates_not_in_file',
        `the name ${formula} (affiliates ${bad[1]?.id})`,
        `email ${formula} (affiliates ${bad[2]?.id})`,
      );
      for (const [index, format] of ['paypal', 'wise'].entries()) {
        const file = await get(payout.id, format, 'allow_skipped=true');
        const references = parseCsv(file.text).flatMap((row) => row.filter((cell) => /^P1-A\d+$/.test(cell)));
        expect(references).toEqual([`P1-A${good[index]?.id}`]);
        expect(file.text).not.toContain("'");
        expect(skippedIn(file)).toBe('4');
      }
    },
  );

  test('affiliates whom Wise cannot pay are listed with the rule', async () => {
    const zoe = await makeWise();
    await makeCommission(api, zoe.id, { amount: 1005, currency: 'kwd' });
    await makeCommission(api, zoe.id, { amount: 100, currency: 'usd' });
    const payout = await makePayout(api);
    const rule = `Wise does not pay in KWD (affiliates ${zoe.id})`;
    for (const query of ['currency=kwd', 'currency=kwd&allow_skipped=true'])
      expectRefusal(await ask(payout.id, 'wise', query), 400, 'empty_payment_file', rule);
    expect((await get(payout.id, 'wise', 'currency=usd')).text).toContain(`P1-A${zoe.id}`);
  });

  test('a receiver of Wise is a person unless it is a business, and stays as it was paid', async () => {
    const people = [
      await makeWise({ legal_type: 'business' }),
      await makeWise({ legal_type: 'person' }),
      await makeWise(),
    ];
    for (const { id } of people) await makeCommission(api, id);
    const payout = await makePayout(api);
    const types = async () => parseCsv((await get(payout.id, 'wise')).text).map((row) => row[3]);
    expect(await types()).toEqual(['receiverType', 'INSTITUTION', 'PERSON', 'PERSON']);
    const become = (index: number, legal_type: string | null) =>
      api.patch(`${AFFILIATES}/${people[index].id}`, { legal_type });
    expect((await become(2, 'business')).status).toBe(200);
    const now = (await api.get(`${PAYOUTS}/current`)).body;
    expect([await types(), now.revision]).toEqual([
      ['receiverType', 'INSTITUTION', 'PERSON', 'INSTITUTION'],
      2,
    ]);
    await completePayout(api, now);
    const paid = (await get(payout.id, 'wise')).text;
    await become(0, null);
    await become(1, 'business');
    expect((await get(payout.id, 'wise')).text).toBe(paid);
  });

  test('an amount above the limit of PayPal is in the file, and counted over the whole file', async () => {
    const aboveIn = ({ headers }: Answer) => headers.get('payhook-affiliates-above-limit');
    const someone = [await makePayPal(), await makePayPal(), await makePayPal({ payout_method: 'other' })];
    for (const [index, amount] of [2_000_000, 2_000_001, 2_000_001].entries())
      await makeCommission(api, someone[index].id, { amount });
    await makeCommission(api, someone[0].id, { amount: 9_000_000, currency: 'eur' });
    const payout = await makePayout(api);
    const above = async (currency: string) =>
      aboveIn(await get(payout.id, 'paypal', `currency=${currency}&allow_skipped=true`));
    expect([await above('usd'), await above('eur')]).toEqual(['1', '0']);
    expect(parseCsv((await get(payout.id, 'paypal', 'currency=usd&allow_skipped=true')).text)).toHaveLength(
      2,
    );
    const limits = { paypal_payment_limit: { USD: 1_999_999, eur: 8_999_999 } };
    const changed = await api.patch('/v2/account', limits);
    expect(changed.body.paypal_payment_limit).toEqual({ usd: 1_999_999, eur: 8_999_999 });
    expect([await above('usd'), await above('eur')]).toEqual(['2', '1']);
    await api.patch('/v2/account', { paypal_payment_limit: {} });
    expect([await above('usd'), await above('eur')]).toEqual(['0', '0']);
    expect(aboveIn(await get(payout.id, 'summary'))).toBe('0');
    const bad = { paypal_payment_limit: { usb: 1 } };
    expectRefusal(await api.patch('/v2/account', bad), 400, 'invalid_body', 'paypal_payment_limit');
  });

  test('affiliates whom PayPal would refuse are listed with the rule: unsupported currencies and fractions', async () => {
    const [a, b] = [await makePayPal(), await makePayPal()];
    for (const [affiliate, currency, amount] of [
      [a, 'kwd', 1000],
      [b, 'kwd', 1000],
      [a, 'huf', 100_050],
      [b, 'huf', 100_000],
      [a, 'twd', 1],
    ] as const)
      await makeCommission(api, affiliate.id, { currency, amount });
    const { id } = await makePayout(api);
    for (const query of ['currency=kwd', 'currency=kwd&allow_skipped=true'])
      expectRefusal(
        await ask(id, 'paypal', query),
        400,
        'empty_payment_file',
        `PayPal does not pay in KWD (affiliates ${a.id}, ${b.id})`,
      );
    expectRefusal(
      await ask(id, 'paypal', 'currency=huf'),
      400,
      'affiliates_not_in_file',
      `PayPal takes no fractions of HUF (affiliates ${a.id})`,
    );
    const rest = await get(id, 'paypal', 'currency=huf&allow_skipped=true');
    expect(rest.text).toBe(lines(`pay@example.com,1000,HUF,P1-A${b.id},Affiliate payout 1,PAYPAL`));
    expect(skippedIn(rest)).toBe('1');
    expectRefusal(await ask(id, 'paypal', 'currency=twd'), 400, 'empty_payment_file', 'no fractions of TWD');
  });

  test('the first 20 affiliates left out are named, the rest counted, in the chosen currency only', async () => {
    const good = await makePayPal();
    await makeCommission(api, good.id);
    await makeCommission(api, good.id, { currency: 'eur' });
    await seed(23, { payout_method: 'wise' });
    const none = await makeAffiliate(api);
    await makeCommission(api, none.id);
    const payout = await makePayout(api);
    const waiting = payout.affiliates
      .filter((line: Json) => line.payout_method === 'wise')
      .map((line: Json) => line.affiliate_id);
    expectRefusal(
      await ask(payout.id, 'paypal', 'currency=usd'),
      400,
      'affiliates_not_in_file',
      `payout_method is wise (affiliates ${waiting.slice(0, 20).join(', ')} and 3 more)`,
      `no paypal_email (affiliates ${none.id})`,
      'allow_skipped=true',
    );
    expect(skippedIn(await get(payout.id, 'paypal', 'currency=usd&allow_skipped=true'))).toBe('24');
    expect(skippedIn(await get(payout.id, 'paypal', 'currency=eur'))).toBe('0');
    expect(skippedIn(await get(payout.id, 'paypal', 'currency=eur&allow_skipped=true'))).toBe('0');
    expectRefusal(await ask(payout.id, 'paypal', 'currency=usd&allow_skipped=false'), 400);
  });
});

describe('the options of a file', () => {
  test('the currency, where there are several: the refusal lists them', async () => {
    const { id: affiliate } = await makePayPal();
    for (const currency of ['usd', 'jpy', 'eur']) await makeCommission(api, affiliate, { currency });
    const { id } = await makePayout(api);
    expectRefusal(await ask(id, 'paypal'), 400, 'several_currencies', 'eur, jpy, usd');
    expectRefusal(await ask(id, 'wise', 'source_currency=eur'), 400, 'several_currencies', 'eur, jpy, usd');
    for (const currency of ['jpy', 'JPY', 'Jpy']) {
      const file = await get(id, 'paypal', `currency=${currency}`);
      expect(file.text).toBe(lines(`pay@example.com,1000,JPY,P1-A${affiliate},Affiliate payout 1,PAYPAL`));
      expect(nameOf(file)).toMatch(/-paypal-jpy\.csv$/);
    }
    expectRefusal(
      await ask(id, 'paypal', 'currency=chf'),
      400,
      'currency_not_in_payout',
      'chf',
      'eur, jpy, usd',
    );
  });

  test.each(
    someOf(
      [
        ['paypal', 'currency=xxy', 'invalid_query', 'currency'],
        ['paypal', 'currency=us', 'invalid_query', 'currency'],
        ['paypal', 'currency=', 'invalid_query', 'currency'],
        ['paypal', 'currency=usd&currency=usd', 'invalid_query', 'currency'],
        ['wise', 'source_currency=xxy', 'invalid_query', 'source_currency'],
        ['wise', 'source_currency=', 'invalid_query', 'source_currency'],
        ['paypal', 'part=0', 'invalid_query', 'part'],
        ['paypal', 'part=-1', 'invalid_query', 'part'],
        ['paypal', 'part=1.5', 'invalid_query', 'part'],
        ['paypal', 'part=one', 'invalid_query', 'part'],
        ['paypal', 'part=99999999999999999999', 'invalid_query', 'part'],
        ['paypal', 'allow_skipped=1', 'invalid_query', 'allow_skipped'],
        ['paypal', 'allow_skipped=', 'invalid_query', 'allow_skipped'],
        ['paypal', 'source_currency=usd', 'unknown_query_parameter', 'source_currency'],
        ['summary', 'currency=usd', 'unknown_query_parameter', 'currency'],
        ['summary', 'part=1', 'unknown_query_parameter', 'part'],
        ['summary', 'allow_skipped=false', 'unknown_query_parameter', 'allow_skipped'],
        ['summary', 'source_currency=usd', 'unknown_query_parameter', 'source_currency'],
        ['wise', 'format=paypal', 'unknown_query_parameter', 'format'],
        ['paypal', 'part=2', 'no_such_part', 'part'],
        ['paypal', 'part=999999999999999', 'no_such_part', 'part'],
      ] as const,
      11,
    ),
  )('are strict: of %s, %s is refused by name', async (format, query, reason, name) => {
    api = await onePayPal();
    expectRefusal(await ask('current', format, query), 400, reason, name);
  });

  test('part=1 of a whole file is the file, and its name has no part', async () => {
    const { id } = await makePayPal();
    await makeCommission(api, id);
    await makePayout(api);
    const [whole, first] = [await get('current', 'paypal'), await get('current', 'paypal', 'part=1')];
    expect([first.text, nameOf(first)]).toEqual([whole.text, nameOf(whole)]);
    expect(nameOf(whole)).not.toContain('part');
  });

  const LIMITS = [
    ['wise', 1000, { payout_method: 'wise', name_first: 'Ada' }],
    ['paypal', 5000, { payout_method: 'paypal', paypal_email: 'pay@example.com' }],
  ] as const;
  test.each(someOf(LIMITS, 1))(
    'the part, where %s takes no more than %i rows: the parts have each row once',
    async (format, limit, fields) => {
      await seed(limit, fields);
      const exact = await makePayout(api);
      const rowsOf = (answer: Answer) => parseCsv(answer.text).slice(format === 'wise' ? 1 : 0);
      expect(rowsOf(await get(exact.id, format))).toHaveLength(limit);
      expect((await api.delete(`${PAYOUTS}/${exact.id}`)).status).toBe(204);
      const others = await makeAffiliate(api, { payout_method: 'other', email: 'other@example.com' });
      const last = await makeAffiliate(api, { email: 'last@example.com', ...fields });
      for (const { id } of [others, last]) await makeCommission(api, id, { amount: 100 });
      const payout = await makePayout(api);
      // affiliates left out are in no part, and do not count
      const query = 'allow_skipped=true';
      const total = (limit + 1).toString();
      expectRefusal(await ask(payout.id, format, query), 400, 'several_parts', total, '2 parts', '1 to 2');
      expectRefusal(await ask(payout.id, format, `${query}&part=3`), 400, 'no_such_part', 'at most 2', total);
      const parts = [
        await get(payout.id, format, `${query}&part=1`),
        await get(payout.id, format, `${query}&part=2`),
      ];
      expect(parts.map((part) => rowsOf(part).length)).toEqual([limit, 1]);
      const day = payout.as_of.slice(0, 10);
      expect(parts.map(nameOf)).toEqual([
        `payout-2-r1-${day}-${format}-usd-part-1-of-2.csv`,
        `payout-2-r1-${day}-${format}-usd-part-2-of-2.csv`,
      ]);
      expect(parts.map(skippedIn)).toEqual(['1', '1']);
      if (format === 'wise')
        for (const part of parts) expect(part.text.startsWith(`${WISE_HEADER}\r\n`)).toBe(true);
      const paid = parts.flatMap(rowsOf).map((row) => row.find((cell) => /^P2-A\d+$/.test(cell)));
      expect(new Set(paid).size).toBe(limit + 1);
      expect(paid).not.toContain(`P2-A${others.id}`);
      const numbers = paid.map((reference) => Number(reference?.slice('P2-A'.length)));
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      for (const reference of paid) expect(reference).toMatch(/^\S{1,30}$/);
      // the summary has no limit
      expect(parseCsv((await get(payout.id, 'summary')).text)).toHaveLength(limit + 3);
    },
  );
});

describe('a payout with nobody to pay', () => {
  test('makes no file for PayPal or Wise, which refuse empty ones; its summary has only a header', async () => {
    const { id } = await makePayPal();
    await makeCommission(api, id);
    const payout = await makePayout(api);
    await completePayout(api, payout, [{ affiliate_id: id, is_paid: false }]);
    for (const query of ['', 'currency=usd', 'currency=chf', 'allow_skipped=true']) {
      for (const format of ['paypal', 'wise'])
        expectRefusal(await ask(payout.id, format, query), 400, 'empty_payment_file', 'nobody was paid');
    }
    const summary = await get(payout.id, 'summary');
    expect(parseCsv(summary.text)).toHaveLength(1);
    expect(skippedIn(summary)).toBe('0');
  });
});

describe('an unknown format or payout', () => {
  test.each(
    someOf(
      ['csv', 'PayPal', 'paypal.csv', 'toString', '__proto__', '%00', '%zz', 'x'.repeat(99)] as const,
      3,
    ),
  )('the format %s answers 404 and names the three formats', async (format) => {
    api = await onePayPal();
    const answer = await ask('current', format);
    expectRefusal(answer, 404, 'resource_missing', 'summary, paypal, wise');
  });

  test("an ill-formed payout id, and another account's, are not found", async () => {
    const { id } = await makePayPal();
    await makeCommission(api, id);
    const payout = await makePayout(api);
    const other = await world.otherAccount();
    for (const format of FORMATS) {
      for (const bad of ['1', 'com_x', '%00', 'x'.repeat(10_000), `${payout.id}0`, MISSING.payout_id ?? ''])
        expectRefusal(await ask(bad, format), 404, 'resource_missing');
      const foreign = await other.get(`${PAYOUTS}/${payout.id}/payment-files/${format}`);
      const missing = await other.get(`${PAYOUTS}/${MISSING.payout_id}/payment-files/${format}`);
      expectRefusal(foreign, 404, 'resource_missing');
      expect(foreign.text).toBe(missing.text);
      expectRefusal(await other.get(`${PAYOUTS}/current/payment-files/${format}`), 404, 'no_current_payout');
    }
  });
});

describe('between two files', () => {
  test('a refund raises the revision in name and ETag, and changes the amount', async () => {
    const { id } = await makePayPal();
    const sale = await makeCommission(api, id, { amount: 1000 });
    const payout = await makePayout(api);
    const before = await get('current', 'paypal');
    await api.post(`${COMMISSIONS}/${sale.id}/refund`, { external_id: 'r', amount: 300 });
    const after = await get('current', 'paypal');
    const day = payout.as_of.slice(0, 10);
    const seen = (answer: Answer) => [nameOf(answer), answer.headers.get('etag'), answer.text.split(',')[1]];
    expect([seen(before), seen(after)]).toEqual([
      [`payout-1-r1-${day}-paypal-usd.csv`, '"1"', '10.00'],
      [`payout-1-r2-${day}-paypal-usd.csv`, '"2"', '7.00'],
    ]);
    // an outdated file cannot complete the payout by mistake
    const commissions = [{ affiliate_id: id, is_paid: true }];
    const etag = before.headers.get('etag') ?? '';
    expectRefusal(await api.put(`${PAYOUTS}/${payout.id}`, { commissions }, { 'if-match': etag }), 409);
  });

  test('a new destination shows at once, and moves the payment to the other file', async () => {
    const { id } = await makePayPal({ name_first: 'Ada' });
    await makeCommission(api, id);
    await makePayout(api);
    await api.patch(`${AFFILIATES}/${id}`, { paypal_email: 'new@example.com' });
    expect((await get('current', 'paypal')).text).toContain('new@example.com');
    await api.patch(`${AFFILIATES}/${id}`, { payout_method: 'wise' });
    const wise = await get('current', 'wise');
    expect([wise.headers.get('etag'), parseCsv(wise.text)[1]?.[0]]).toEqual(['"3"', 'Ada']);
    expectRefusal(await ask('current', 'paypal'), 400, 'empty_payment_file', 'payout_method is wise');
  });

  test('those of a paid payout never change: the same bytes, name and ETag, whatever else changes', async () => {
    const [ada, bob] = [await makePayPal({ external_id: 'ada' }), await makeWise({ external_id: 'bob' })];
    const released = await makePayPal();
    const sale = await makeCommission(api, ada.id, { amount: 5000 });
    await makeCommission(api, ada.id, { amount: 200 });
    for (const { id } of [bob, released]) await makeCommission(api, id);
    const payout = await makePayout(api);
    await completePayout(api, payout, [
      { affiliate_id: ada.id, is_paid: true, payment_reference: 'tx-1' },
      { affiliate_id: bob.id, is_paid: true },
      { affiliate_id: released.id, is_paid: false },
    ]);
    const files = async () => {
      const answers = [
        await get(payout.id, 'summary'),
        await get(payout.id, 'paypal', 'allow_skipped=true'),
        await get(payout.id, 'wise', 'allow_skipped=true'),
      ];
      return answers.map((answer) => ({
        text: answer.text,
        name: nameOf(answer),
        etag: answer.headers.get('etag'),
        skipped: skippedIn(answer),
      }));
    };
    const first = await files();
    expect(first.map(({ text }) => text).join()).toContain(`P1-A${ada.id}`);
    expect(first.map(({ text }) => text).join()).not.toContain(`P1-A${released.id}`);

    for (const [index, { id }] of [ada, bob, released].entries()) {
      const change = await api.patch(`${AFFILIATES}/${id}`, {
        external_id: `other-${index}`,
        email: `other-${index}@example.com`,
        name_first: '=Other',
        name_last: null,
        slug: `other-${index}`,
        paypal_email: null,
        payout_method: 'other',
        is_ready_for_payout: false,
        minimum_payout: { usd: 1 },
      });
      expect(change.status, change.text).toBe(200);
    }
    const refund = await api.post(`${COMMISSIONS}/${sale.id}/refund`, { external_id: 'r', amount: 4000 });
    expect(refund.body.clawback).not.toBeNull();
    const back = await api.post(`${PAYOUTS}/${payout.id}/affiliates/${bob.id}/returned`, {
      reason: 'closed',
    });
    expect(back.status).toBe(200);
    for (const amount of [700, -100]) {
      const adjustment = { external_id: `adjustment ${amount}`, amount, currency: 'usd' };
      expect((await api.post(`${AFFILIATES}/${ada.id}/adjustments`, adjustment)).status).toBe(201);
    }
    await makeCommission(api, ada.id, { amount: 9000, currency: 'eur' });
    const second = await makePayout(api, { filters: { is_ready_for_payout: false } });
    expect(await files()).toEqual(first);
    await completePayout(api, second);
    for (const { id } of [ada, bob, released])
      expect((await api.patch(`${AFFILIATES}/${id}`, { status: 'inactive' })).status).toBe(200);
    expect(await files()).toEqual(first);
  });

  test('reading them changes nothing except the record of the download', async () => {
    const { id } = await makePayPal();
    await makeCommission(api, id);
    const payout = await makePayout(api);
    await nothingChanges(world, async () => {
      for (const format of FORMATS) await ask('current', format);
      const noted = await world.query(
        `delete from payment_file_downloads where public_id('po', payout_id) = $1 returning format`,
        [payout.id],
      );
      for (const table of ['payment_file_payees', 'payment_file_sets'])
        await world.query(`delete from ${table} where public_id('po', payout_id) = $1`, [payout.id]);
      expect(noted.length).toBe(FORMATS.length - 1); // Wise has nobody to pay
    });
  });
});

test('a failed file is a 500, or cuts the connection midway: a truncated one never looks complete', async () => {
  const own = await borrowWorld({ own: true });
  own.expectErrors();
  const { id } = (await own.api.post(AFFILIATES, { email: 'a@example.com', paypal_email: 'p@example.com' }))
    .body;
  await makeCommission(own.api, id);
  await makePayout(own.api);
  const path = `${PAYOUTS}/current/payment-files/paypal`;
  expect((await own.api.get(path)).status).toBe(200);
  await own.query(`create or replace function decimal_text(amount numeric, currency text) returns text
    language sql immutable as $$ select (amount / 0)::text $$`);
  const broken = await own.api.get(path).catch((error: Error) => error);
  if (!(broken instanceof Error)) expect(broken.status).toBe(500);
  await own.close();
});

/** An affiliate of a random payout, with the owed amounts. */
interface Someone {
  readonly method: 'paypal' | 'wise' | 'other' | null;
  readonly address: 'none' | 'good' | 'formula';
  readonly name: 'none' | 'good' | 'formula';
  readonly owed: readonly (readonly [currency: string, amount: number])[];
  /** Whether Complete marks them as paid, in the runs that complete. */
  readonly isPaid: boolean;
}

const someone: fc.Arbitrary<Someone> = fc.record({
  method: fc.constantFrom('paypal', 'wise', 'other', null),
  address: fc.constantFrom('none', 'good', 'good', 'formula'),
  name: fc.constantFrom('none', 'good', 'good', 'formula'),
  owed: fc.array(fc.tuple(fc.constantFrom('usd', 'jpy', 'huf', 'kwd'), fc.integer({ min: 1, max: 400 })), {
    minLength: 1,
    maxLength: 4,
  }),
  isPaid: fc.boolean(),
});

/** The rule of destinations, stated a second time. */
function fileOf({ method, address, name }: Someone, currency: string, amount: number): string {
  if (method === 'other') return 'neither';
  // neither provider pays dinars
  if (currency === 'kwd') return 'neither';
  if (method === 'wise') return name === 'good' ? 'wise' : 'neither';
  if (address !== 'good') return 'neither';
  return currency === 'huf' && amount % 100 !== 0 ? 'neither' : 'paypal';
}

const DIGITS: Readonly<Record<string, number>> = { usd: 2, jpy: 0, huf: 2, kwd: 3 };
const minor = (decimal: string, currency: string) =>
  Math.round(Number(decimal) * 10 ** (DIGITS[currency] ?? Number.NaN));

test('in any payout, every payment is in one file or among the skipped, and they add up to it', async () => {
  const run = async (people: readonly Someone[], completes: boolean) => {
    api = await world.otherAccount();
    const ids: number[] = [];
    for (const { method, address, name, owed } of people) {
      const { id } = await makeAffiliate(api, {
        payout_method: method,
        paypal_email: { none: null, good: 'pay@example.com', formula: '+pay@example.com' }[address],
        name_first: { none: null, good: 'Ada', formula: '=Ada' }[name],
      });
      ids.push(id);
      for (const [currency, amount] of owed) await makeCommission(api, id, { currency, amount });
    }
    let payout = await makePayout(api);
    if (completes) {
      const entries = people.map(({ isPaid }, index) => ({ affiliate_id: ids[index], is_paid: isPaid }));
      payout = await completePayout(api, payout, entries);
    }
    for (const total of payout.totals) {
      const { currency } = total;
      const payments = people.flatMap((each, index) => {
        const owed = each.owed.filter(([code]) => code === currency);
        const amount = owed.reduce((sum, [, part]) => sum + part, 0);
        if (owed.length === 0 || (completes && !each.isPaid)) return [];
        return [{ reference: `P1-A${ids[index]}`, amount, file: fileOf(each, currency, amount) }];
      });
      const expected = completes ? total.paid_amount : total.amount;
      expect(payments.reduce((sum, { amount }) => sum + amount, 0)).toBe(expected);
      for (const [format, amountAt, referenceAt] of [
        ['paypal', 1, 3],
        ['wise', 5, 2],
      ] as const) {
        const inFile = payments.filter(({ file }) => file === format);
        const strict = await ask(payout.id, format, `currency=${currency}`);
        const loose = await ask(payout.id, format, `currency=${currency}&allow_skipped=true`);
        if (inFile.length === 0) {
          for (const answer of [strict, loose])
            expect(['empty_payment_file', 'currency_not_in_payout']).toContain(answer.reason);
          continue;
        }
        const rows = parseCsv(loose.text).slice(format === 'wise' ? 1 : 0);
        const found = rows.map((row) => ({
          reference: row[referenceAt],
          amount: minor(row[amountAt] ?? '', currency),
          file: format,
        }));
        expect(found).toEqual(inFile);
        expect(skippedIn(loose)).toBe(String(payments.length - inFile.length));
        if (inFile.length === payments.length) expect(strict.text).toBe(loose.text);
        else {
          expect(strict.reason).toBe('affiliates_not_in_file');
          for (const { reference, file } of payments.filter((each) => each.file !== format))
            expect(strict.body.error.message, file).toMatch(
              new RegExp(`\\b${reference.slice('P1-A'.length)}\\b`),
            );
        }
      }
    }
    const [header = [], ...summary] = parseCsv((await get(payout.id, 'summary')).text);
    for (const total of payout.totals) {
      const cell = (row: string[], name: string) => row[header.indexOf(name)] ?? '';
      const own = summary.filter((row) => cell(row, 'currency').toLowerCase() === total.currency);
      const sum = own.reduce((all, row) => all + minor(cell(row, 'amount'), total.currency), 0);
      const count = own.reduce((all, row) => all + Number(cell(row, 'commission_count')), 0);
      expect([sum, count]).toEqual(
        completes ? [total.paid_amount, total.paid_count] : [total.amount, total.commission_count],
      );
    }
  };
  await expectProperty({
    ...{ name: 'payment files of a payout', cases: rounds(4, 10) },
    arbitrary: fc.tuple(fc.array(someone, { minLength: 1, maxLength: 6 }), fc.boolean()),
    check: ([people, completes]) => run(people, completes),
  });
});
