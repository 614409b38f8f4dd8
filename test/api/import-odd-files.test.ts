import { beforeEach, describe, expect, test } from 'vitest';
import { number, oneSheet, type XlsxSheet, xlsx } from '../support/workbooks.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  allOf,
  COMMISSIONS,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  previewChangesNothing,
} from './fixtures.ts';

// What people do to their files in spreadsheets, and what spreadsheets do to them.

const world = useWorld();
const api = useAccount(world);

const send = (path: string, file: string | Buffer, query: object = {}) => {
  const texts = Object.entries({ kind: 'commissions', ...query }).map(([key, value]): [string, string] => [
    key,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.upload(`/v2/imports${path}?${new URLSearchParams(texts)}`, file);
};

const preview = async (file: string | Buffer, query?: object): Promise<Json> => {
  const answer = await previewChangesNothing(world, () => send('/preview', file, query));
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

/** Imports a file; returns the id, amount and currency of each commission. */
async function imported(file: string | Buffer, query: object = {}): Promise<unknown[]> {
  const answer = await send('', file, { accept_guesses: true, ...query });
  expect(answer.status, answer.text).toBe(200);
  const rows = await allOf(api, `${COMMISSIONS}?sort=id`);
  return rows.map((row: Json) => [row.external_id, row.amount, row.currency]);
}

const errorsOf = async (file: string | Buffer): Promise<string[]> =>
  (await preview(file)).report.errors.map(({ line, message }: Json) => `${line} ${message}`);

const HEADER = 'Order,Partner e-mail,Commission,Date';
const line = (id: string, amount: string) => `${id},ada@example.com,"${amount}",2026-09-01`;

beforeEach(() => makeAffiliate(api, { email: 'ada@example.com' }));

test.each(['-20.00', '($20.00)', '$(20.00)', '20.00-', '−20.00'])(
  'the negative amount %s is refused as one, with what to do',
  async (amount) => {
    expect(await errorsOf(csv(HEADER, line('1', amount), line('2', '1.00')))).toEqual([
      '2 amount must not be negative: "-20.00". Enter a refund for its order, and anything else as an adjustment of the balance',
    ]);
  },
);

test.each(['-', '(', '()', '(5', '5)', '(-5.00)', '--5.00', '-5.00-', '(5)(5)', '−'])(
  '%s is no amount',
  async (amount) => {
    expect(await errorsOf(csv(HEADER, line('1', amount)))).toEqual([
      expect.stringMatching(/^2 amount must be an amount with a decimal point/),
    ]);
  },
);

test('an id whose last digits a spreadsheet lost is refused', async () => {
  const file = csv(HEADER, line('1.23457E+15', '1.00'), line('12E4', '2.00'));
  expect(await errorsOf(file)).toEqual([
    '2 order_id lost its last digits in a spreadsheet: make the column a text and export the file again: "1.23457E+15"',
  ]);
});

describe('a rate in percent', () => {
  const sales = (...rates: string[]) =>
    csv(
      'Order,Partner e-mail,Sale,Rate,Date',
      ...rates.map((rate, index) => `o${index},ada@example.com,100.00,"${rate}",2026-09-01`),
    );

  test('is recognised next to the sale, and gives the commission', async () => {
    const { guessed } = await preview(sales('12.5%', '10 %', '7,25 %'));
    expect(guessed).toEqual(expect.arrayContaining(['"Sale" is sale_amount', '"Rate" is rate_bps']));
    expect(await imported(sales('12.5%', '10 %', '7,25 %'))).toEqual([
      ['o0', 1250, 'usd'],
      ['o1', 1000, 'usd'],
      ['o2', 725, 'usd'],
    ]);
  });

  test('is shown with its sign by a workbook', async () => {
    const file = oneSheet(
      ['Order', 'Partner e-mail', 'Sale', 'Rate', 'Date'],
      [
        'o1',
        'ada@example.com',
        number('100', '0.00'),
        number('0.125', '0.0%'),
        number('46266', 'yyyy-mm-dd'),
      ],
    );
    expect(await imported(file)).toEqual([['o1', 1250, 'usd']]);
  });

  test('without the sign is a question', async () => {
    const { questions } = await preview(sales('12.5', '10'));
    expect(questions).toMatchObject([
      { about: 'mapping', message: expect.stringContaining('the sale and the rate (sale_amount, rate_bps)') },
    ]);
  });

  test('with more than two decimals, or above the whole sale, is a bad line', async () => {
    const mapping = { Rate: 'rate_bps' };
    const { report } = await preview(sales('12.345%', '101%', '10%'), { mapping });
    expect(report.errors.map(({ message }: Json) => message)).toEqual([
      'rate_bps must be a whole number of basis points from 0 to 10000 (12.5 % is 1250), not "12.345%"',
      'rate_bps must be a whole number of basis points from 0 to 10000 (12.5 % is 1250), not "10100"',
    ]);
  });
});

describe('a currency in the name of a column', () => {
  const euros = csv('Order,Partner e-mail,Commission (EUR),Date', line('1', '5.00'));

  test('is that of all amounts, as a guess to accept', async () => {
    const { guessed } = await preview(euros);
    expect(guessed).toContain('all amounts are in EUR, as "Commission (EUR)" says');
    expectRefusal(await send('', euros), 400, 'import_not_confirmed', 'in EUR');
    expect(await imported(euros)).toEqual([['1', 500, 'eur']]);
  });

  test('counts when a person says that the column is the amount', async () => {
    const file = csv('Order,Partner e-mail,Their part [£],Date', line('1', '5.00'));
    expect(await imported(file, { mapping: { 'Their part [£]': 'amount' } })).toEqual([['1', 500, 'gbp']]);
  });

  test('is overridden by a column and by an answer', async () => {
    const file = csv(
      'Order,Partner e-mail,Commission (EUR),Currency,Date',
      '1,ada@example.com,5.00,USD,2026-09-01',
    );
    expect(await imported(file)).toEqual([['1', 500, 'usd']]);
    const mapping = { currency: { constant: 'gbp' } };
    expect((await imported(euros.replace('\n1,', '\n2,'), { mapping })).at(-1)).toEqual(['2', 500, 'gbp']);
  });

  test('is none when the brackets contain anything else', async () => {
    const { questions } = await preview(csv('Order,Partner e-mail,Commission (net),Date', line('1', '5.00')));
    expect(questions).toMatchObject([{ message: expect.stringContaining('which column is the amount') }]);
  });
});

test.each([
  ['French', 'Commande;E-mail partenaire;Commission;Devise;Date de commande'],
  ['Spanish', 'Pedido;Email afiliado;Comisión;Moneda;Fecha del pedido'],
  ['Italian', 'Ordine;E-mail affiliato;Provvigione;Valuta;Data di vendita'],
  ['Dutch', 'Bestelnummer;E-mail partner;Commissie;Valuta;Besteldatum'],
  ['Polish', 'Zamówienie;E-mail partnera;Prowizja;Waluta;Data zamówienia'],
  ['Portuguese', 'Encomenda;E-mail do afiliado;Comissão;Moeda;Data do pedido'],
  ['German', 'Bestellnummer;Partner E-Mail;Provisionsbetrag;Währung;Bestelldatum'],
])('%s names of columns are recognised', async (_, header) => {
  expect(await imported(csv(header, 'f1;ada@example.com;1234,50;EUR;13/09/2026'))).toEqual([
    ['f1', 123_450, 'eur'],
  ]);
});

describe('a workbook whose first sheet is empty', () => {
  const cover: XlsxSheet = { name: 'Cover', rows: [] };
  const data: XlsxSheet = {
    name: 'Data',
    rows: [
      ['Order', 'Partner e-mail', 'Commission', 'Date'],
      ['1', 'ada@example.com', '5.00', '2026-09-01'],
    ],
  };

  test('is read from the next visible sheet, and says so', async () => {
    const file = xlsx([cover, { ...data, name: 'Old', state: 'hidden' }, data]);
    const { guessed, dialect } = await preview(file);
    expect(guessed).toContain('the sheet "Data" is read, and not "Cover", "Old" (hidden)');
    expect(dialect.sheet).toBe('Data');
    expect(await imported(file)).toEqual([['1', 500, 'usd']]);
  });

  test('is refused if that sheet was chosen, or if all are empty', async () => {
    const empty = 'the sheet "Cover" is empty';
    for (const answer of [
      await send('/preview', xlsx([cover, data]), { sheet: 'Cover' }),
      await send('/preview', xlsx([cover, { ...cover, name: 'Second' }])),
    ])
      expectRefusal(answer, 400, 'invalid_file', empty);
  });
});

test.each([
  ['a web page', '<html><body><table><tr><td>Order</td></tr></table>', 'a web page (HTML)'],
  ['a web page with a byte order mark', '\uFEFF\n<!DOCTYPE html>\n', 'a web page (HTML)'],
  ['XML', '<?xml version="1.0"?>\n<orders/>\n', 'XML'],
  ['JSON', '[{"order":"1","amount":"1.00"}]\n', 'JSON'],
])('%s is refused by its format', async (_, file, what) => {
  for (const path of ['', '/preview'])
    expectRefusal(await send(path, file), 400, 'invalid_file', `the file is ${what}: save the file as`);
});

test('a column of bank accounts without their holders is a question', async () => {
  const file = csv('E-mail,IBAN', 'bo@example.com,DE89370400440532013000');
  const { questions } = await preview(file, { kind: 'affiliates' });
  expect(questions).toMatchObject([
    { about: 'mapping', message: expect.stringContaining('the holder of the bank account (account_holder)') },
  ]);
  const named = csv('E-mail,IBAN,Holder', 'bo@example.com,DE89370400440532013000,Bo');
  const mapping = { Holder: 'account_holder' };
  expect((await preview(named, { kind: 'affiliates', mapping })).report).toMatchObject({ created: 1 });
});
