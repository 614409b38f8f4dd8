import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runOn } from './here.ts';
import { AFFILIATES, COMMISSIONS, type Started, startServer, useMachine } from './support.ts';

const machine = useMachine();
let server: Started & { url: string };
/** The affiliates of the unpaid payout 1. */
let ada: number;
let bob: number;
let yuki: number;

interface Payout {
  readonly status: string;
  readonly affiliates: readonly { readonly affiliate_id: number }[];
}

async function current(): Promise<Payout> {
  const key = readFileSync(join(machine.dataDir, 'first-api-key'), 'utf8').trim();
  const answer = await fetch(`${server.url}/v2/affiliates/payouts/current`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await answer.json()) as Payout;
}

beforeAll(async () => {
  await machine.init();
  server = await startServer(machine);
  machine.write('affiliates.csv', AFFILIATES);
  machine.write('commissions.csv', COMMISSIONS);
  for (const command of [
    ['affiliates', 'import', 'affiliates.csv'],
    ['commissions', 'import', 'commissions.csv'],
    ['payouts', 'create'],
  ])
    expect(await runOn(machine)(command)).toMatchObject({ code: 0 });
  [ada = 0, bob = 0, yuki = 0] = (await current()).affiliates.map((line) => line.affiliate_id);
});

/** Completes with the file; returns the message after checking exit code 1 and an unchanged payout. */
async function refusal(file: string | Uint8Array, reason = 'invalid_file'): Promise<string> {
  const before = await current();
  expect(before.status).toBe('unpaid');
  writeFileSync(join(machine.folder, 'paid.csv'), file);
  const ran = await runOn(machine)(['payouts', 'complete', '1', '--from', 'paid.csv', '--yes', '--json']);
  expect(ran, ran.stderr).toMatchObject({ code: 1, stdout: '' });
  expect(await current()).toEqual(before);
  const { error } = JSON.parse(ran.stderr);
  expect(error).toMatchObject({ code: 'bad_request', reason });
  return error.message;
}

const HEADER = 'affiliate_id,is_paid,payment_reference\n';
const whole = () => `${HEADER}${ada},true,X-1\n${bob},false,\n${yuki},true,X-3\n`;

describe('a list of paid affiliates is refused by line and column, and the payout stays unpaid, for', () => {
  test.each<[string, () => string | Uint8Array, () => string]>([
    [
      'a misspelt column',
      () => whole().replace('is_paid', 'paid'),
      () => 'line 1, column 2: there is no column "paid": is it is_paid?; nothing was changed',
    ],
    ['no header', () => whole().replace(HEADER, ''), () => 'the file is of no supported kind'],
    [
      'semicolons',
      () => whole().replaceAll(',', ';'),
      () => 'line 1: the file has semicolons between the cells',
    ],
    [
      'Windows-1252',
      () => Buffer.from(whole().replace('X-3', 'für'), 'latin1'),
      () =>
        `line 4, column payment_reference, character ${`${yuki},true,`.length + 2}: the byte FC is not UTF-8: ` +
        'save the file as "CSV UTF-8 (comma delimited)"',
    ],
    ['UTF-16', () => Buffer.from(`\uFEFF${whole()}`, 'utf16le'), () => 'the file is UTF-16'],
    ['an Excel workbook', () => Buffer.from('PK\x03\x04\x14\0\x06\0'), () => 'the file is an Excel workbook'],
    [
      'a truncated reference',
      () => whole().slice(0, -2),
      () => 'line 4, column payment_reference: the file ends here without a line end, so it may be cut off',
    ],
    [
      'a truncated last line',
      () => whole().slice(0, -6),
      () => 'line 4, column payment_reference: the file ends before it: the file may be cut off',
    ],
    [
      'a yes in another language',
      () => whole().replace('true', 'WAHR'),
      () => 'line 2, column is_paid: must be true or false, not "WAHR"; nothing was changed',
    ],
    [
      'an id as a spreadsheet writes it',
      () => whole().replace(`\n${bob},`, `\n${bob}.0,`),
      () =>
        `line 3, column affiliate_id: must be a positive integer such as 17, not "${bob}.0"; nothing was changed`,
    ],
    [
      'an affiliate twice',
      () => `${whole()}\r\n${ada},false,\r\n`,
      () => `line 6, column affiliate_id: affiliate ${ada} is already in line 2; nothing was changed`,
    ],
  ])('%s', async (_, file, message) => {
    expect(await refusal(file())).toContain(message());
  });

  test('an affiliate who is not in the payout', async () => {
    const message = 'line 5, column affiliate_id: affiliate 4242 is not in the payout; nothing was changed';
    expect(await refusal(`${whole()}4242,true,\n`, 'affiliate_not_in_payout')).toBe(message);
  });

  test('missing affiliates, as in a file cut off between two lines', async () => {
    const message = `the list does not name affiliates ${bob}, ${yuki}; nothing was changed`;
    expect(await refusal(`${HEADER}${ada},true,X-1\n`, 'affiliates_missing')).toBe(message);
    const none = `the list does not name affiliates ${ada}, ${bob}, ${yuki}; nothing was changed`;
    expect(await refusal(HEADER, 'affiliates_missing')).toBe(none);
  });

  test('nothing, when a spreadsheet wrote it: byte order mark, CRLF, other order, empty columns and lines', async () => {
    const lines = ['Payment_Reference,is_paid,affiliate_id,', `X-1,TRUE,${ada},`, ',,,', `,FALSE,${bob},`];
    machine.write('paid.csv', `\uFEFF${[...lines, `"X,3",TRUE,${yuki},`].join('\r\n')}\r\n`);
    const ran = await runOn(machine)(['payouts', 'complete', '1', '--from', 'paid.csv', '--yes', '--json']);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.json()).toMatchObject({
      status: 'paid',
      affiliates: [
        { affiliate_id: ada, is_paid: true, payment_reference: 'X-1' },
        { affiliate_id: bob, is_paid: false, payment_reference: null },
        { affiliate_id: yuki, is_paid: true, payment_reference: 'X,3' },
      ],
    });
  });
});
