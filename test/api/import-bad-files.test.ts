import { beforeEach, describe, expect, test } from 'vitest';
import { isLong, longRun, rounds, someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  COMMISSIONS,
  eventsOf,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
  parseCsv,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test, with one affiliate: Ada, external id `ada`. */
const api = useAccount(world);
beforeEach(async () => {
  await makeAffiliate(api, { email: 'ada@example.com', external_id: 'ada' });
});

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const SALES = 'external_id,affiliate_external_id,amount,description\n';
const PEOPLE = 'external_id,email,name_first,status\n';
const sales = (file: string | Uint8Array, query = '') => api.upload(`${COMMISSIONS}/import${query}`, file);
const people = (file: string | Uint8Array, query = '') => api.upload(`${AFFILIATES}/import${query}`, file);

/** The file is refused as a whole, also with --partial and in a long run with --dry-run, and every row stays. */
async function expectRefusedWhole(
  upload: typeof sales,
  file: string | Uint8Array,
  message: string,
): Promise<void> {
  await nothingChanges(world, async () => {
    for (const query of someOf(['?partial=true', '?dry_run=true', ''], 1)) {
      const answer = await upload(file, query);
      expectRefusal(answer, 400, 'invalid_file', message);
      expect(answer.body.error.message.length).toBeLessThan(500);
    }
  });
}

/** The file is refused for this bad line, which a dry run reports. */
async function refusedLine(upload: typeof sales, file: string, line: number, message: string): Promise<void> {
  await nothingChanges(world, async () => {
    expectRefusal(await upload(file), 400, 'invalid_lines', `line ${line}: ${message}`);
    // a dry run reports the same list, which import-lines.test.ts compares in every run
    if (!isLong) return;
    const dry = await upload(file, '?dry_run=true');
    expect(dry.body.errors).toEqual([{ line, message }]);
  });
}

describe('a file of commissions is refused, by line and column, with', () => {
  test.each<[string, string | Uint8Array, string]>([
    [
      'a misspelt column',
      'external_id,affiliate_id,amout\n',
      'line 1, column 3: there is no column "amout": is it amount?',
    ],
    [
      'another writing of a column',
      'External ID,affiliate_id,amount\n',
      'line 1, column 1: there is no column "external id": is it external_id?',
    ],
    [
      'a column missing',
      'external_id,amount\n',
      'line 1: column affiliate_id or affiliate_email or affiliate_external_id is missing',
    ],
    [
      'a column twice',
      'external_id,affiliate_id,amount,amount\n',
      'line 1, column 4: amount is column 3 already',
    ],
    [
      'no header',
      'c1,ada,31.90,\n',
      'line 1: must name the columns, and "c1,ada,31.90" does not; the columns are external_id, ',
    ],
    [
      'semicolons',
      'external_id;affiliate_id;amount\nc1;1;31,90\n',
      'line 1: the file has semicolons between the cells: save it with commas, and with points in decimal numbers',
    ],
    ['tabs', 'external_id\taffiliate_id\tamount\n', 'line 1: the file has tabs between the cells'],
    [
      'ten thousand columns',
      `external_id,${'x,'.repeat(10_000)}\n`,
      'line 1, column 2: there is no column "x"',
    ],
    [
      'a decimal comma',
      `${SALES}c1,ada,31,90,\n`,
      'line 2, column 5: the header has no such column. Check for a text with a comma and no quotes, or a number with a decimal comma',
    ],
    [
      'Windows-1252',
      latin1(`${SALES}c1,ada,1,"a\r\nb"\r\nc2,ada,2,Zoë\r\n`),
      'line 4, column description, character 12: the byte EB is not UTF-8: save the file as "CSV UTF-8 (comma delimited)"',
    ],
    ['UTF-16', Buffer.from(SALES, 'utf16le'), 'the file is UTF-16: save the file as'],
    [
      'an Excel workbook',
      latin1('PK\x03\x04\x14\0\x06\0'),
      'the file is an Excel workbook or another zip file: save the file as',
    ],
    ['a NUL', `${SALES}c1,ada,1,\0\n`, 'line 2, column description, character 10: a NUL character'],
    [
      'another file appended',
      `\uFEFF${SALES}c1,ada,1,\n\uFEFF${SALES}`,
      'line 3, column external_id, character 1: a byte order mark (U+FEFF) inside the file',
    ],
    [
      'a truncated amount',
      'external_id,affiliate_external_id,amount\nc1,ada,31.9',
      'line 2, column amount: the file ends here without a line end, so it may be cut off',
    ],
    [
      'a truncated text',
      `${SALES}c1,ada,31.90,Book`,
      'line 2, column description: the file ends here without a line end',
    ],
    [
      'a truncated last line',
      `${SALES}c1,ada,31.90,\nc2,ada,3`,
      'line 3, column description: the file ends before it: the file may be cut off',
    ],
    [
      'a truncated quote',
      `${SALES}c1,ada,1,"a\nc2,ada,2,b\n`,
      'line 2, column description, character 10: the quote that opens here is never closed: the file may be cut off',
    ],
    [
      'a cell of megabytes',
      `${SALES}c1,ada,1,${'x'.repeat(rounds(2, 20) << 20)}\n`,
      'line 2, column description: more than 1048576 characters in one line',
    ],
    [
      'a quote that stays open for megabytes',
      `${SALES}c1,ada,1,"${'x\n'.repeat(1 << 20)}`,
      'line 2, column description, character 10: the quote that opens here is not closed: more than 1048576 characters',
    ],
  ])('%s', async (_, file, message) => {
    await expectRefusedWhole(sales, file, message);
  });

  longRun.test('a byte that is not UTF-8 far down, whatever precedes it', async () => {
    const lines = Array.from(
      { length: 60_000 },
      (_, index) => `c${index},ada,1,"é🎉\n${'ü'.repeat(index % 3)}"\n`,
    );
    const file = Buffer.concat([Buffer.from(SALES + lines.join('')), latin1('x,ada,1,Zoë\n')]);
    await expectRefusedWhole(
      sales,
      file,
      'line 120002, column description, character 11: the byte EB is not UTF-8',
    );
  });
});

describe('a line of a file of commissions is refused, by line, column, value and rule:', () => {
  const dollars =
    'must be a number such as 31.90 with a point and at most 2 digits after it (usd), without thousands separator, sign or exponent';
  const yen =
    'must be a whole number such as 528 (jpy has no decimals), without thousands separator, sign or exponent';
  test.each([
    ['amount', '"31,90"', 'usd', `amount ${dollars}, not "31,90"`],
    ['amount', '"1,000.00"', 'usd', `amount ${dollars}, not "1,000.00"`],
    ['amount', '1 000', 'usd', `amount ${dollars}, not "1 000"`],
    ['amount', '$31.90', 'usd', `amount ${dollars}, not "$31.90"`],
    ['amount', '31.90 €', 'usd', `amount ${dollars}, not "31.90 €"`],
    ['amount', '3.19E+1', 'usd', `amount ${dollars}, not "3.19E+1"`],
    ['amount', '31.905', 'usd', `amount ${dollars}, not "31.905"`],
    ['amount', '３１', 'usd', `amount ${dollars}, not "３１"`],
    ['amount', '31.9', 'jpy', `amount ${yen}, not "31.9"`],
    [
      'amount',
      '-5',
      'usd',
      'amount must not be negative: "-5". Enter a refund for its order, and anything else as an adjustment of the balance',
    ],
    ['amount', "'5", 'usd', `amount ${dollars}, not "'5"`],
    ['amount', '9'.repeat(90), 'usd', `amount ${dollars}, not "${'9'.repeat(60)}…"`],
    ['sale_amount', '1.234,50', 'usd', `sale_amount ${dollars}, not "1.234,50"`],
    ['currency', '31.90', '€', 'currency must be an ISO 4217 code such as usd, not "€"'],
    [
      'occurred_at',
      '31.12.2026',
      'usd',
      'occurred_at must be a day such as 2026-12-31 or a time such as 2026-12-31T08:30:00Z, from 1970 to 2999, not "31.12.2026"',
    ],
    [
      'occurred_at',
      '46387',
      'usd',
      'occurred_at must be a day such as 2026-12-31 or a time such as 2026-12-31T08:30:00Z, from 1970 to 2999, not "46387"',
    ],
    ['occurred_at', '2026-11-31', 'usd', 'occurred_at is not a day of the calendar: "2026-11-31"'],
    ['program_id', '1.0', 'usd', 'program_id must be a positive integer such as 17, not "1.0"'],
    ['program_id', '77777', 'usd', 'program_id belongs to no program: "77777"'],
    ['order_id', 'x'.repeat(256), 'usd', `order_id has more than 255 characters: "${'x'.repeat(60)}…"`],
    [
      'order_id',
      "'=1+1",
      'usd',
      `order_id begins with an apostrophe before "=", which protects against formulas: remove the apostrophe: "'=1+1"`,
    ],
  ])('the %s %s', async (column, value, currency, message) => {
    const amount = column === 'amount' ? [] : [['amount', '1']];
    const cells = [
      ['external_id', 'c9'],
      ['affiliate_external_id', 'ada'],
      ['currency', currency],
      ...amount,
    ];
    if (column !== 'currency')
      cells.push([column, value.includes(',') && !value.startsWith('"') ? `"${value}"` : value]);
    const [names, values] = [0, 1].map((index) => cells.map((pair) => pair[index]).join());
    await refusedLine(sales, `${names}\n\n${values}\n`, 3, message);
  });

  test('an external_id that an earlier line has, naming both lines', async () => {
    const message = 'external_id "c1" is also in line 3 with other content';
    await refusedLine(sales, `${SALES}c0,ada,1,\nc1,ada,1,"a\nb"\nc1,ada,2,\n`, 5, message);
  });

  test('a stored external_id, and an unknown affiliate', async () => {
    const { id } = await makeAffiliate(api);
    await makeCommission(api, id, { external_id: 'stored' });
    const exists = 'external_id "stored" exists with other content';
    await refusedLine(sales, `${SALES}stored,ada,1,\n`, 2, exists);
    const unknown = 'affiliate_external_id belongs to no affiliate: "Ada"';
    await refusedLine(sales, `${SALES}c1,Ada,1,\n`, 2, unknown);
  });
});

describe('a file of affiliates is refused, by line and column, with', () => {
  test.each<[string, string | Uint8Array, string]>([
    [
      'a misspelt column',
      'e-mail,name_first\n',
      'line 1, column 1: there is no column "e-mail": is it email?',
    ],
    ['semicolons', 'email;name_first\n', 'line 1: the file has semicolons between the cells'],
    ['no header', 'bob@example.com,Bob\n', 'line 1: must name the columns'],
    [
      'Windows-1252',
      latin1(`${PEOPLE}a,zoe@example.com,Zoë,active\n`),
      'line 2, column name_first, character 21: the byte EB is not UTF-8',
    ],
    [
      'a truncated address',
      'email,paypal_email\nbob@example.com,bob@example.co',
      'line 2, column paypal_email: the file ends here without a line end',
    ],
    [
      'the only column truncated',
      'email\nbob@example.co',
      'line 2, column email: the file ends here without a line end',
    ],
  ])('%s', async (_, file, message) => {
    await expectRefusedWhole(people, file, message);
  });

  test.each([
    ['a,x@example.com,,\na,y@example.com,,', 3, 'external_id "a" is also in line 2'],
    ['x,X@example.com,,\ny,x@example.com,,', 3, 'email "x@example.com" is also in line 2'],
    [
      'ada,new@example.com,,\n,ada@example.com,,',
      3,
      'email "ada@example.com" means the same affiliate as line 2',
    ],
    ['x,x@example.com,,Active', 2, 'status must be one of active, inactive, not "Active"'],
    [
      'x,x at example.com,,',
      2,
      'email must be an e-mail address such as ada@example.com: "x at example.com"',
    ],
    [
      "'@x,x@example.com,,",
      2,
      `external_id begins with an apostrophe before "@", which protects against formulas: remove the apostrophe: "'@x"`,
    ],
  ])('the line %j', async (lines, line, message) => {
    await refusedLine(people, `${PEOPLE}${lines}\n`, line, message);
  });

  test('the address of another affiliate', async () => {
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    const message = `email "Bob@example.com" belongs to affiliate ${bob.id}`;
    await refusedLine(people, `${PEOPLE}ada,Bob@example.com,,\n`, 2, message);
  });

  test('nothing, when the last line has no line end but ends in an enumerated word', async () => {
    const file = `${PEOPLE}a,zoe@example.com,Zoë,active`;
    expect((await people(file)).body).toMatchObject({ lines: 1, created: 1, failed: 0 });
  });
});

test('an exported file is imported unchanged, except for guarded cells, which are refused', async () => {
  const texts = ['plain', '=1', '＋1', '\n@x', '\u00a0-1', ' ＝1', ' blank', '—x', "'t Hooft", 'a=1'];
  const { id } = await makeAffiliate(api);
  const names = texts.map((_, index) => `guard-${index}`);
  for (const [index, product_name] of texts.entries())
    await makeCommission(api, id, { external_id: names[index], product_name });
  const payout = await makePayout(api, { filters: { affiliate_id: id } });
  const [header = [], ...rows] = parseCsv((await api.get(`${PAYOUTS}/${payout.id}/download`)).text);
  const at = header.indexOf('product_name');
  const cells = rows.map((row) => row[at] ?? '');
  expect((await api.delete(`${PAYOUTS}/${payout.id}`)).status).toBe(204);
  const guarded = cells.map((cell) => !texts.includes(cell));
  expect(guarded.filter(Boolean)).toHaveLength(5);
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  const file = cells.map((cell, index) => `back-${index},${id},1.00,${quoted(cell)}\r\n`).join('');
  const answer = await api.upload(
    `${COMMISSIONS}/import?partial=true`,
    `external_id,affiliate_id,amount,product_name\r\n${file}`,
  );
  expect(answer.body).toMatchObject({ created: 5, failed: 5 });
  for (const { message } of answer.body.errors) expect(message).toContain('remove the apostrophe');
  for (const [index, cell] of cells.entries()) {
    const [back] = (await api.get(`${COMMISSIONS}?external_id=back-${index}`)).body.data;
    expect(back?.product_name).toBe(guarded[index] ? undefined : cell);
  }
});

test('cells that our own files guard against formulas are not imported as other values', async () => {
  const { id } = await makeAffiliate(api, { external_id: '@eve' });
  await makeCommission(api, id, { external_id: '-5', amount: 3190 });
  const payout = await makePayout(api);
  const rows = (await api.get(`${PAYOUTS}/${payout.id}/download`)).text.split('\r\n');
  const cell = rows[1]?.split(',')[rows[0]?.split(',').indexOf('external_id') ?? 0];
  expect(cell).toBe("'-5");
  const header = 'external_id,affiliate_id,amount,currency\n';
  const message = `external_id begins with an apostrophe before "-", which protects against formulas: remove the apostrophe: "'-5"`;
  await refusedLine(sales, `${header}${cell},${id},31.90,usd\n`, 2, message);
  const again = await sales(`${header}-5,${id},31.90,usd\n`);
  expect(again.body).toMatchObject({ created: 0, unchanged: 1 });
});

test('a truncated file never imports a commission with a part of its amount', async () => {
  const file = 'external_id,affiliate_external_id,amount\nc1,ada,31.90\nc2,ada,100\n';
  const amounts: Record<string, number> = { c1: 3190, c2: 10_000 };
  const bytes = Buffer.from(file);
  for (let length = rounds(file.indexOf('c1'), 0); length <= bytes.length; length += 1)
    await sales(bytes.subarray(0, length));
  const stored = await allOf(api, COMMISSIONS);
  expect(stored.map(({ external_id, amount }) => [external_id, amount]).sort()).toEqual(
    Object.entries(amounts),
  );
  expect(await eventsOf(world, api, 'commissions.imported')).toHaveLength(2);
});
