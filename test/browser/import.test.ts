import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIELDS } from '../../src/money/imports/fields.ts';
import { makeAffiliate } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { number, xlsx } from '../support/workbooks.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, hasScreen, PHONE } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

const EXCEL = readFileSync(new URL('../../examples/imports/excel-commissions.csv', import.meta.url));
const BANK = readFileSync(new URL('../../examples/imports/bank-and-tax.csv', import.meta.url), 'utf8');

inChromium('the import', (chromium) => {
  const world = useWorld();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'payhook-import-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const choose = (page: Page, name: string, content: string | Buffer) =>
    page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });

  test('a messy file end to end: previewed, asked about, mapped, imported without its bad line, undone', async () => {
    const [ada] = [
      await makeAffiliate(world.api, { email: 'ada@example.com' }),
      await makeAffiliate(world.api, { email: 'charles@example.com' }),
    ];
    const mia = await atDashboard(chromium, world, { role: 'member', path: '/import?kind=commissions' });
    const { page } = mia;
    // as a German Excel saves it, with ambiguous days and a line of an unknown affiliate
    const file = Buffer.concat([
      Buffer.from(EXCEL.toString('latin1').replaceAll('.09.2026', '/09/2026'), 'latin1'),
      Buffer.from('9999;nobody@example.com;5,00;9,00;EUR;04/09/2026;\r\n'),
    ]);
    await choose(page, 'export.csv', file);
    await page.getByText(/^The date "01\/09\/2026" has the day first/).waitFor();
    expect(await page.getByRole('button', { name: /^Import \d/ }).count()).toBe(0);
    expect(await page.getByLabel('Separator').inputValue()).toBe('semicolon');
    expect(await page.getByLabel('Decimal sign').inputValue()).toBe('comma');
    expect(await page.getByLabel('Encoding').inputValue()).toBe('windows-1252');
    const offered = await page.getByLabel('What “Provision” becomes').locator('option').count();
    expect(offered).toBe(Object.keys(FIELDS.commissions).length + 1);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Day first' }).click();
    await page.getByRole('button', { name: 'Import 3 commissions without 1 bad line' }).waitFor();
    await page.getByRole('cell', { name: /^2026-09-01/ }).waitFor();
    await page
      .getByRole('row', { name: '5 Partner E-Mail nobody@example.com Belongs to no affiliate' })
      .waitFor();
    await page.getByLabel('What “Bemerkung” becomes').selectOption('Description');
    await page.getByRole('row', { name: /Bemerkung.*You$/ }).waitFor();
    await page.getByText('The same in every line').click();
    await page.getByLabel('Field', { exact: true }).selectOption('Type');
    await page.getByLabel('Value').fill('bonus');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Remove Type' }).waitFor();
    await page.getByLabel('Save the mapping').check();
    await page.getByLabel('Name of the mapping').fill('Monthly export');
    const [bad] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the bad lines' }).click(),
    ]);
    expect(readFileSync(await bad.path(), 'utf8')).toMatch(/^line,error,Bestellung.*\r\n5,.*9999/);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Import 3 commissions without 1 bad line' }).click();
    await page.getByText('3 new and 1 bad line.').waitFor();
    await expectAccessible(page);
    const { body } = await world.api.get(`/v2/affiliates/commissions?affiliate_id=${ada.id}`);
    expect(body.data).toMatchObject([
      { amount: 100_000, type: 'bonus', currency: 'eur' },
      { amount: 3190, type: 'bonus', description: 'Größe M – Müller' },
    ]);

    // the next file of this format needs no answer
    await choose(page, 'next.csv', file);
    await page.getByText('Nothing in the file is new.').waitFor();
    expect(await page.getByLabel('Saved mapping').inputValue()).toBe('Monthly export');

    await page.getByRole('link', { name: 'export.csv' }).click();
    const drawer = page.getByRole('dialog', { name: 'export.csv' });
    await drawer.getByText('“bonus” in every line').waitFor();
    await expectAccessible(page);
    await drawer.getByRole('button', { name: 'Undo this import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Undo the import of “export.csv”' });
    await dialog.getByText('3 commissions are voided and no longer owed.').waitFor();
    await dialog.getByRole('button', { name: 'Undo this import' }).click();
    await drawer.getByText('Undone', { exact: true }).first().waitFor();
    const after = await world.api.get('/v2/imports');
    expect(after.body.data).toMatchObject([{ status: 'undone', created: 3, failed: 1 }]);
    expectQuiet(mia);
  });

  longRun.test(
    'a file without a known date, with foreign words and an ignored column of status',
    async () => {
      const ada = await atDashboard(chromium, world, { path: '/import?kind=affiliates' });
      const { page } = ada;
      const people =
        'Email,Status,Land\nx1@example.com,aktiv,Italien\nx2@example.com,ruhend,Italien\nSumme,,\n';
      await choose(page, 'partner.csv', people);
      await page.getByText('"ruhend" in "Status" (1 line) is not known').waitFor();
      await page.getByRole('heading', { name: 'What the words of “Status” mean' }).waitFor();
      expect(await page.getByLabel('What “aktiv” means').inputValue()).toBe('active');
      expect(await page.getByLabel('What “Italien” means').inputValue()).toBe('IT');
      await expectAccessible(page);
      await page.getByRole('button', { name: '“ruhend” means Inactive' }).click();
      await page.getByRole('button', { name: 'Leave totals out' }).click();
      await page.getByRole('button', { name: 'Import 2 affiliates' }).waitFor();
      await page.getByLabel('What “ruhend” means').selectOption('Refuse these lines');
      await page.getByRole('button', { name: 'Import 1 affiliate without 1 bad line' }).waitFor();
      await page.getByLabel('What “ruhend” means').selectOption('Inactive');
      await page.getByLabel('What “Status” becomes').selectOption('Leave out');
      await page.getByText(/^"Status" may say who must not be paid/).waitFor();
      expect(await page.getByRole('button', { name: /^Import \d/ }).count()).toBe(0);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Use “Status” as Status' }).click();
      await page.getByRole('button', { name: 'Import 2 affiliates' }).click();
      await page.getByText('2 new and 1 left out.').waitFor();
      await page.goto(`${world.url}/import?kind=commissions`);
      await choose(
        page,
        'impact.csv',
        'Action Id,Affiliate Email,Payout,Locking Date\n1,x1@example.com,5.00,2026-01-31\n',
      );
      await page.getByText(/“Earned”.*"Locking Date" has dates/).waitFor();
      await page.getByRole('button', { name: 'Use “Locking Date” as Earned' }).click();
      await page.getByRole('button', { name: 'Import 1 commission' }).waitFor();
      expectQuiet(ada);
    },
  );

  test('a sheet of a workbook: chosen, with its header found, and its equal errors together', async () => {
    const ada = await atDashboard(chromium, world, { path: '/import?kind=affiliates', viewport: PHONE });
    const { page } = ada;
    const people = [
      ['Partners of the third quarter'],
      ['E-Mail', 'Vorname', 'Partner ID'],
      ['sheet-1@example.com', 'Ada', number('42', '00000')],
      ['nobody', 'Bo', number('43', '00000')],
      ['no one', 'Cy', number('44', '00000')],
    ];
    const file = xlsx([
      { name: 'Notes', rows: [['E-Mail'], ['notes@example.com']] },
      { name: 'Q3', rows: people, hiddenRows: [4] },
    ]);
    await choose(page, 'partners.xlsx', file);
    await page.getByRole('button', { name: 'Import 1 affiliate' }).waitFor();
    expect(await page.getByLabel('Sheet').inputValue()).toBe('Notes');
    expect(await page.getByLabel('Separator').count()).toBe(0);
    await page.getByLabel('Sheet').selectOption('Q3');
    await page.getByRole('button', { name: 'Import 1 affiliate without 2 bad lines' }).waitFor();
    expect(await page.getByLabel('Names of the columns').inputValue()).toBe('2');
    await page.getByText('00042').first().waitFor();
    const bad = page.getByRole('list', { name: 'Bad lines' });
    await bad.getByText('4, 5').waitFor();
    for (const value of ['nobody', 'no one']) await bad.getByText(value, { exact: true }).waitFor();
    await page.getByText(/^Importing accepts/).click();
    await page.getByText('hidden rows are read as well: 4').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Names of the columns').selectOption('Line 1');
    await page.getByText('Which column is the e-mail address?').waitFor();
    await page.getByLabel('Names of the columns').selectOption('Line 2');
    await page.getByRole('button', { name: 'Import 1 affiliate without 2 bad lines' }).click();
    await page.getByText('1 new and 2 bad lines.').waitFor();
    const { body } = await world.api.get('/v2/affiliates?search=sheet-1');
    expect(body.data).toMatchObject([{ external_id: '00042' }]);
    expectQuiet(ada);
  });

  longRun.test('the page shows the upload, the writing of lines, and then the result', async () => {
    const ada = await atDashboard(chromium, world, { path: '/import', viewport: PHONE });
    const { page } = ada;
    const line = (index: number) => `progress-${index}@example.com,${'x'.repeat(150)}\n`;
    const file = `email,name\n${Array.from({ length: 2000 }, (_, index) => line(index)).join('')}`;
    const devtools = await page.context().newCDPSession(page);
    const slow = (uploadThroughput: number) =>
      devtools.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      });
    await devtools.send('Network.enable');
    await slow(60_000);
    await choose(page, 'many.csv', file);
    await page.getByText(/^[\d.]+ kB of [\d.]+ kB sent$/).waitFor();
    const bar = page.getByRole('progressbar', { name: /^Reading “many.csv”/ });
    expect(Number(await bar.getAttribute('value'))).toBeLessThan(1);
    await expectAccessible(page);
    await slow(-1);
    const start = page.getByRole('button', { name: 'Import 2,000 affiliates' });
    await start.waitFor();
    await world.query('begin');
    await world.query('lock table payout_books in access exclusive mode');
    try {
      await start.click();
      await page.getByText('Comparing 2,000 lines with existing records, and writing').waitFor();
      await expectAccessible(page);
    } finally {
      await world.query('rollback');
    }
    await page.getByText('2,000 new.').waitFor();
    expectQuiet(ada);
  });

  longRun.test(
    'affiliates on a phone, and the import of earlier payments is confirmed by its effects',
    async () => {
      const ada = await atDashboard(chromium, world, { path: '/affiliates?search=nobody', viewport: PHONE });
      const { page } = ada;
      await page.getByRole('link', { name: 'Import a file' }).click();
      await choose(
        page,
        'people.csv',
        'Kontakt,Rufname\ngrace@example.com,Grace\nkatherine@example.com,Katherine\n',
      );
      await page.getByRole('button', { name: 'Import 2 affiliates' }).waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
      await page.getByLabel('What “Rufname” becomes').selectOption('First name');
      const first = page.getByRole('list', { name: 'The first lines, as they are read' });
      await first.getByText('Katherine', { exact: true }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Import 2 affiliates' }).click();
      await page.getByText('2 new.').waitFor();
      await page.getByRole('link', { name: 'See the affiliates' }).click();
      await page.getByRole('link', { name: 'Katherine' }).waitFor();

      await page.goto(`${world.url}/import?kind=commissions`);
      const lines = ['order_id,affiliate_email,amount,status', '1,grace@example.com,5.00,paid', ''];
      await choose(page, 'history.csv', lines.join('\n'));
      await page.getByText('Lines say that they were paid, and no column says when').waitFor();
      await page.getByLabel('All of them were paid on').fill('2025-12-31');
      await page.getByRole('button', { name: 'Add' }).first().click();
      await page.getByRole('button', { name: 'Import 1 commission' }).click();
      const dialog = page.getByRole('dialog', { name: 'Import 1 commission' });
      await dialog.getByText('This creates 1 past payout. Paid amounts never change').waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Import 1 commission' }).click();
      await page.getByText('1 new and 1 past payout.').waitFor();
      await page.getByRole('link', { name: 'See the record' }).click();
      await page.getByRole('dialog').getByText('The import created 1 past payout.').waitFor();
      await expectAccessible(page);
      expectQuiet(ada);
    },
  );

  test('bank accounts and tax ids are imported with affiliates: shown by their ends, mapped by columns only', async () => {
    const ada = await atDashboard(chromium, world, { path: '/import', viewport: PHONE });
    const { page } = ada;
    await choose(page, 'bank.csv', BANK.replaceAll('@example.com', '@bank.example'));
    const start = page.getByRole('button', { name: 'Import 3 affiliates' });
    await start.waitFor();
    const fieldOf = (column: string) => page.getByLabel(`What “${column}” becomes`, { exact: true });
    const mapped = {
      Kontoinhaber: 'account_holder',
      IBAN: 'iban',
      'VAT ID': 'tax_id',
      Zip: 'address_postal_code',
    };
    for (const [column, field] of Object.entries(mapped))
      expect(await fieldOf(column).inputValue()).toBe(field);
    await page.getByRole('row', { name: /^IBAN …3000 · …6819/ }).waitFor();
    const shown = await page.locator('main').innerText();
    for (const number of ['5320', '6016', '13669']) expect(shown).not.toContain(number);
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await page.getByText('The same in every line').click();
    const constants = await page.getByLabel('Field', { exact: true }).locator('option').allTextContents();
    expect(constants).toContain('BIC');
    for (const label of ['IBAN', 'Account number', 'Tax id']) expect(constants).not.toContain(label);

    // a mistyped number: the page shows where, and not the number
    await choose(
      page,
      'typo.csv',
      'Email,Account holder,IBAN\nzoe@bank.example,Zoe,DE89370400440532013001\n',
    );
    await page.getByText('Has wrong check digits: a digit or letter is mistyped').waitFor();
    expect(await page.locator('main').innerText()).not.toContain('0532013');

    await choose(page, 'bank.csv', BANK.replaceAll('@example.com', '@bank.example'));
    await start.click();
    await page.getByText('3 new.').waitFor();
    const { data } = (await world.api.get('/v2/affiliates?search=charles@bank.example')).body;
    await page.goto(`${world.url}/affiliates/${data[0].id}`);
    await page.getByText(/6819/).first().waitFor();
    expectQuiet(ada);
  });

  longRun.test(
    'during an import the page shows how long it may take, and the browser asks before the page is closed',
    async () => {
      const mia = await atDashboard(chromium, world, { role: 'member', path: '/import' });
      const { page } = mia;
      await choose(page, 'slow.csv', 'email\nslow@example.com\n');
      let goOn = () => {};
      const held = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await page.route(
        (url) => url.pathname === '/v2/imports' && url.searchParams.get('kind') === 'affiliates',
        async (route) => {
          if (route.request().method() === 'POST') await held;
          await route.continue();
        },
      );
      await page.getByRole('button', { name: 'Import 1 affiliate' }).click();
      await page.getByText(/Keep this tab open .* nothing is written/).waitFor();
      await page
        .getByText(/so far\. The preview took \d+ seconds?, and this takes about as long\./)
        .waitFor();
      await expectAccessible(page);
      const prompt = page.waitForEvent('dialog');
      const closing = page.close({ runBeforeUnload: true });
      const dialog = await prompt;
      expect(dialog.type()).toBe('beforeunload');
      await dialog.dismiss();
      await closing;
      goOn();
      await page.getByText('1 new.').waitFor();
      await page.getByRole('link', { name: 'slow.csv' }).waitFor();
      expectQuiet(mia);
    },
  );

  test('a wrong file is explained, dropped or chosen, and a dropped file never leaves the page', async () => {
    const ada = await atDashboard(chromium, world, { path: '/import' });
    const { page } = ada;
    const drop = (names: readonly string[], content: string) =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        for (const name of ${JSON.stringify(names)}) data.items.add(new File([${JSON.stringify(content)}], name));
        for (const type of ['dragenter', 'drop'])
          document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
      })()`);
    await drop(['a.csv', 'b.csv'], 'email\n');
    await page.getByText('Drop one file at a time.').waitFor();
    await drop(['photo.png'], '');
    await page.getByText('The file is empty').waitFor();
    await expectAccessible(page);
    await choose(page, 'photo.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
    await page.getByText('The file is an image (PNG)').waitFor();
    await choose(page, 'people.xlsx', Buffer.from('504b030414000600', 'hex'));
    await page.getByText('The file is a zip archive that cannot be unpacked').waitFor();
    await choose(page, 'all-bad.csv', `email\n${'nobody\n'.repeat(2_000)}`);
    await page.getByText('2,000 lines cannot be imported.').waitFor();
    await page.getByText('Every line is bad').waitFor();
    await page.getByText('No line in the file can be imported as it is.').waitFor();
    await page.getByRole('row', { name: /^2, 3, 4 …\s*1,000 lines\s+email nobody Must be / }).waitFor();
    await expectAccessible(page);

    expectQuiet(ada);
  });

  longRun.test('a file of another kind is offered as such; one that was saved again is named', async () => {
    const ada = await atDashboard(chromium, world, { path: '/import' });
    const { page } = ada;
    await choose(page, 'names.csv', 'email,first name\n');
    await page.getByText('The file has no line below the names of its columns.').waitFor();
    await choose(page, 'orders.csv', 'Order,Commission\n1042,5.00\n');
    await page.getByRole('button', { name: 'Import the file as commissions' }).click();
    await page.getByText('Who earned what.').waitFor();
    await page.getByLabel('What the file contains').first().selectOption('Affiliates');

    // saved again in the spreadsheet while it is open here
    const path = join(folder, 'people.csv');
    await writeFile(path, 'email\ndora@example.com\n');
    await page.locator('input[type=file]').setInputFiles(path);
    await page.getByRole('button', { name: 'Import 1 affiliate' }).waitFor();
    await writeFile(path, 'email\ndora@example.com\nemma@example.com\n');
    await page.getByRole('button', { name: 'Import 1 affiliate' }).click();
    await page.getByText('“people.csv” can no longer be read.').waitFor();
    expectQuiet(ada);
  });

  longRun.test('a viewer sees the imports, and no form', async () => {
    await world.api.upload('/v2/imports?kind=affiliates&file_name=seen.csv', 'email\nvera@example.com\n');
    const vera = await atDashboard(chromium, world, { role: 'viewer', path: '/import' });
    const { page } = vera;
    await page.getByText('Your role cannot import files or undo imports.').waitFor();
    expect(await page.locator('input[type=file]').count()).toBe(0);
    await page.getByRole('link', { name: 'seen.csv' }).click();
    await page.getByRole('dialog').getByText('Digest of the file').waitFor();
    expect(await page.getByRole('button', { name: 'Undo this import' }).count()).toBe(0);
    await expectAccessible(page);
    await page.goto(`${world.url}/affiliates`);
    await hasScreen(page);
    expect(await page.getByRole('link', { name: 'Import a file' }).count()).toBe(0);
    expectQuiet(vera);
  });
});
