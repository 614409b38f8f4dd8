import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { agree, letInvoice, VAT_ID, withRate } from '../support/invoicing.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { completePayout, type Json, makeAffiliate, makeCommission, makePayout, PAYOUTS } from './fixtures.ts';

const MUSTANG = fileURLToPath(new URL('../tools/java/lib/Mustang-CLI-2.26.0.jar', import.meta.url));
const isMissing = !existsSync(MUSTANG) || spawnSync('java', ['-version']).status !== 0;

const world = useWorld();
const api = useAccount(world);

async function pdfOf({ id }: Json): Promise<Buffer> {
  const response = await fetch(`${api.url}/v2/affiliates/invoices/${id}/download`, {
    headers: { authorization: `Bearer ${api.key}` },
  });
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

/** What Mustang says about a PDF by the rules of PDF/A-3 (veraPDF), Factur-X and EN 16931: `valid`, or its report. */
async function judged(pdf: Buffer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'invoice-'));
  writeFileSync(join(folder, 'invoice.pdf'), pdf);
  const options = ['--action', 'validate', '--disable-file-logging', '--source', 'invoice.pdf'];
  // it exits with an error if the file is not valid
  const report = await promisify(execFile)('java', ['-jar', MUSTANG, ...options], { cwd: folder }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
  rmSync(folder, { recursive: true });
  // the summary at the end is about the XML only
  const isValid =
    /\[flavour=3a, .* isCompliant=true\]/.test(report) &&
    /<summary status="valid"\/>\s*<\/validation>/.test(report);
  return isValid ? 'valid' : report;
}

test.skipIf(isMissing)(
  'invoices and credit notes are PDF/A-3 with valid Factur-X (skipped without Mustang in test/tools/java)',
  { timeout: 600_000 },
  async () => {
    await letInvoice(api);
    const own = (await api.get('/v2/account')).body.tax_profile;
    const rules = [
      { country: 'DE', has_vat_id: true, category: 'S', rate: 1900 },
      { country: 'FR', has_vat_id: true, category: 'AE', exemption: 'Reverse charge' },
      { category: 'O', exemption: 'Not subject to VAT' },
    ];
    await api.patch('/v2/account', { tax_profile: own, invoicing: { rules } });
    const affiliates = [await makeAffiliate(api), await makeAffiliate(api), await makeAffiliate(api)];
    const [german, french, other] = affiliates.map(({ id }) => id) as [number, number, number];
    await agree(api, german);
    await agree(api, french, 'FR83404833048', { country: 'FR', legal_name: 'Ångström & Søn <Ελλάδα> Щука' });
    await agree(api, other, VAT_ID, { country: 'RS', tax_id: null, legal_name: '田中 राम' });
    for (const id of [german, french, other])
      await makeCommission(api, id, { amount: 10_007, currency: 'eur' });
    await makeCommission(api, german, { amount: 11_900, currency: 'usd' });
    const payout = await completePayout(api, await makePayout(api));
    const issued = await api.post(`${PAYOUTS}/${payout.id}/invoices`, withRate(payout.paid_at));
    expect(issued.body, issued.text).toMatchObject({ issued: 4, skipped: [] });
    const back = { amount: 3, currency: 'eur', reason: 'closed' };
    expect((await api.post(`${PAYOUTS}/${payout.id}/affiliates/${german}/returned`, back)).status).toBe(200);
    const invoices: Json[] = (await api.get('/v2/affiliates/invoices?sort=id')).body.data;
    expect(invoices).toHaveLength(5);
    const [first, ...files] = await Promise.all(invoices.map(pdfOf));
    const changed = String(first?.toString('latin1')).replace('/AFRelationship', '/AFRelationshiX');
    expect(await judged(Buffer.from(changed, 'latin1'))).toContain('AFRelationship');
    expect(await Promise.all(files.map(judged))).toEqual(files.map(() => 'valid'));
  },
);
