import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { filesIn } from '../support/archives.ts';
import { agree, letInvoice, VAT_ID } from '../support/invoicing.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { run, runJson, runText } = commandsOf(world, api, machine);

test('commands set up, issue, list and show invoices and write them to files', async () => {
  const own = { legal_name: 'Muster GmbH', country: 'DE', address: { line1: 'Weg 1', city: 'Berlin' } };
  const rules = [{ country: 'DE', category: 'S', rate: 1900 }];
  const set = ['--tax-profile', JSON.stringify(own), '--invoicing', JSON.stringify({ prefix: 'X-', rules })];
  expect(await runText('account', 'change', ...set)).toContain('X-…, 1 tax rule');
  const { id } = await makeAffiliate(api);
  const { id: stranger } = await makeAffiliate(api);
  await agree(api, id);
  for (const each of [id, stranger]) await makeCommission(api, each, { amount: 11_900, currency: 'eur' });
  const payout = await completePayout(api, await makePayout(api));

  const issued = await runText('invoices', 'issue', String(payout.number));
  expect(issued).toContain('1 invoice issued.');
  expect(issued).toContain(`affiliate ${stranger}, EUR: had not agreed to self-billing`);
  expect(await runText('invoices', 'issue', payout.id)).toContain('0 invoices issued.');
  const { data } = await runJson('invoices', 'list', '--payout', payout.id);
  const { number } = data[0];
  expect(number).toMatch(/^X-\d{4}-000001$/);
  expect(await runText('invoices', 'list', '--affiliate', String(id))).toMatch(
    new RegExp(`${number} +invoice .* 119\\.00 EUR +Partner ${id} GmbH`),
  );
  expect(await runText('invoices', 'list', '--kind', 'credit_note')).toContain('No invoices found');
  const shown = await runText('invoices', 'show', number);
  expect(shown).toMatch(/Net +100\.00 EUR/);
  expect(shown).toMatch(/Tax +19\.00 EUR {2}19 %/);
  expect(shown).toMatch(/Tax id +…5976 \(vat\)/);
  expect(await runJson('invoices', 'show', data[0].id)).toEqual(data[0]);

  const xml = (await runText('invoices', 'xml', number)).trim();
  expect(xml).toBe(join('exports', `invoice-${number}.xml`));
  expect(readFileSync(join(machine.folder, xml), 'utf8')).toContain(VAT_ID);
  const { code, error } = await run('invoices', 'ubl', number);
  expect([code, error?.message]).toEqual([
    1,
    expect.stringContaining('electronic_address of the tax profile'),
  ]);
  const refused = await run('invoices', 'export', '--format', 'ubl', '--payout', String(payout.number));
  expect([refused.code, refused.error?.message]).toEqual([
    1,
    expect.stringContaining('no invoice of the payout can be written'),
  ]);
  const all = ['invoices', 'export', '--format', 'xml', '--payout', String(payout.number)] as const;
  const archive = (await runText(...all)).trim();
  expect(archive).toMatch(/^exports.payout-\d+-.*-invoices-xml\.zip$/);
  expect(await filesIn(readFileSync(join(machine.folder, archive)))).toEqual({
    [`invoice-${number}.xml`]: readFileSync(join(machine.folder, xml)),
  });
  expect(await runJson(...all, '--output', 'own.zip')).toMatchObject({ file: 'own.zip' });
  const pdf = (await runText('invoices', 'pdf', number)).trim();
  expect(readFileSync(join(machine.folder, pdf)).subarray(0, 5).toString()).toBe('%PDF-');
});

test('the invoices of a payout are exported as Peppol files in an archive', async () => {
  const electronic_address = '9930:DE136695976';
  await letInvoice(api);
  const own = (await api.get('/v2/account')).body.tax_profile;
  expect((await api.patch('/v2/account', { tax_profile: { ...own, electronic_address } })).status).toBe(200);
  const [reached, unreached] = [await makeAffiliate(api), await makeAffiliate(api)];
  await agree(api, reached.id, VAT_ID, { electronic_address });
  await agree(api, unreached.id);
  for (const { id } of [reached, unreached])
    await makeCommission(api, id, { amount: 11_900, currency: 'eur' });
  const payout = await completePayout(api, await makePayout(api));
  expect(await runText('invoices', 'issue', payout.id)).toContain('2 invoices issued.');
  const archive = await runText('invoices', 'export', '--format', 'ubl', '--payout', String(payout.number));
  expect(archive.trim()).toMatch(/^exports.payout-\d+-.*-invoices-ubl\.zip$/);
  const files = await filesIn(readFileSync(join(machine.folder, archive.trim())));
  const [name = ''] = Object.keys(files).filter((each) => each.endsWith('.xml'));
  expect(Object.keys(files).sort()).toEqual([name, 'skipped.csv'].sort());
  expect(String(files[name])).toContain('<cbc:InvoiceTypeCode>389</cbc:InvoiceTypeCode>');
  expect(String(files['skipped.csv'])).toContain('no_electronic_address');
});

test('invoices in another currency than that of the country are issued with a rate', async () => {
  await letInvoice(api);
  const { id } = await makeAffiliate(api);
  await agree(api, id);
  await makeCommission(api, id, { amount: 11_900, currency: 'usd' });
  const payout = await completePayout(api, await makePayout(api));
  expect(await runText('invoices', 'issue', payout.id)).toContain(
    `affiliate ${id}, USD: needs an exchange rate: --rate usd/eur=…`,
  );
  const pair = ['--rate', 'usd/eur=0.8675'];
  for (const [options, rule] of [
    [pair, '--rate, --rate-date and --rate-source go together'],
    [['--rate', 'usd=1', '--rate-date', '2026-11-26', '--rate-source', 'ECB'], '--rate must look like'],
  ] as const) {
    const ran = await run('invoices', 'issue', payout.id, ...options);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(rule)]);
  }
  const day = ['--rate-date', payout.paid_at.slice(0, 10), '--rate-source', 'ECB'];
  expect(await runText('invoices', 'issue', payout.id, ...pair, ...day)).toContain('1 invoice issued.');
  const { data } = await runJson('invoices', 'list', '--payout', payout.id);
  expect(await runText('invoices', 'show', data[0].number)).toMatch(
    /Tax in the country +16\.48 EUR {2}\(1 USD = 0\.8675 EUR, ECB, /,
  );
});

test('an unknown invoice, and one of another account, is not found', async () => {
  for (const reference of ['SB-1999-000001', `inv_${'0192f8e5'.repeat(4)}`]) {
    const ran = await run('invoices', 'pdf', reference);
    expect([ran.code, ran.error?.code]).toEqual([1, 'not_found']);
  }
});
