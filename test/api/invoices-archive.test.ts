import { beforeEach, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { filesIn } from '../support/archives.ts';
import { holdBack } from '../support/held.ts';
import { agree, letInvoice, VAT_ID, withRate } from '../support/invoicing.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  csv,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld({ databaseLatencyMs: 0 });
let api: Api;
const ADDRESS = `9930:${VAT_ID}`;
beforeEach(async () => {
  api = await world.otherAccount();
  await letInvoice(api);
});

const addressed = async (electronic_address: string | null) => {
  const { tax_profile } = (await api.get('/v2/account')).body;
  const answer = await api.patch('/v2/account', { tax_profile: { ...tax_profile, electronic_address } });
  expect(answer.status, answer.text).toBe(200);
};
async function partner(electronic_address: string | null): Promise<number> {
  const { id } = await makeAffiliate(api);
  await agree(api, id);
  const path = `${AFFILIATES}/${id}/tax-profile`;
  const { legal_type, legal_name, country, address, self_billing } = (await api.get(path)).body;
  const answer = await api.put(path, {
    ...{ legal_type, legal_name, country, address, electronic_address },
    tax_id: { type: 'vat', number: VAT_ID },
    self_billing: { agreed_on: self_billing.agreed_on, agreed_by: self_billing.agreed_by },
  });
  expect(answer.status, answer.text).toBe(200);
  return id;
}
async function invoiced(affiliates: readonly number[], currency = 'eur'): Promise<Json> {
  for (const id of affiliates) await makeCommission(api, id, { amount: 11_900, currency });
  return payAndInvoice(affiliates.length);
}
async function payAndInvoice(issued: number): Promise<Json> {
  const payout = await completePayout(api, await makePayout(api));
  const answer = await api.post(`${PAYOUTS}/${payout.id}/invoices`, withRate(payout.paid_at));
  expect(answer.body, answer.text).toMatchObject({ issued, skipped: [] });
  return payout;
}
const pathOf = (payout: Json, format = 'ubl') => `${PAYOUTS}/${payout.id}/invoices/download?format=${format}`;
/** The response with its bytes. */
async function taken(path: string) {
  const response = await fetch(api.url + path, { headers: { authorization: `Bearer ${api.key}` } });
  expect(response.status).toBe(200);
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}
async function single(invoice: Json, format: string): Promise<[string, Buffer]> {
  const path = `/v2/affiliates/invoices/${invoice.id}/download?format=${format}`;
  const { headers, bytes } = await taken(path);
  return [/filename="(.+)"/.exec(headers.get('content-disposition') ?? '')?.[1] ?? '', bytes];
}
async function invoicesOf(payout: Json): Promise<Json[]> {
  const found: Json[] = [];
  for (let page = 1; ; page++) {
    const path = `/v2/affiliates/invoices?payout_id=${payout.id}&per_page=100&page=${page}&sort=id`;
    const { data, pagination } = (await api.get(path)).body;
    found.push(...data);
    if (page >= pagination.pages) return found;
  }
}
const downloads = async () =>
  (await api.get('/v2/audit-log?action=downloadInvoicesOfPayout')).body.data as Json[];

test('the archive has the invoices and credit notes of the payout, byte for byte as each is downloaded', async () => {
  await addressed(ADDRESS);
  const [one, two] = [await partner(ADDRESS), await partner(ADDRESS)];
  await invoiced([one]);
  const payout = await invoiced([one, two]);
  const back = { amount: 119, currency: 'eur', reason: 'closed' };
  expect((await api.post(`${PAYOUTS}/${payout.id}/affiliates/${one}/returned`, back)).status).toBe(200);
  const invoices = await invoicesOf(payout);
  expect(invoices.map(({ kind }) => kind)).toEqual(['invoice', 'invoice', 'credit_note']);
  for (const format of ['pdf', 'xml', 'ubl']) {
    const { headers, bytes } = await taken(pathOf(payout, format));
    expect(headers.get('content-type')).toBe('application/zip');
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="payout-${payout.number}-.*-invoices-${format}.zip"$`),
    );
    const singles = await Promise.all(invoices.map((invoice) => single(invoice, format)));
    expect(await filesIn(bytes)).toEqual(Object.fromEntries(singles));
  }
  expect(await downloads()).toEqual([
    expect.objectContaining({ target: payout.id }),
    expect.objectContaining({ target: payout.id }),
    expect.objectContaining({ target: payout.id }),
  ]);
  // a HEAD sends nothing, so nothing is recorded
  expect((await api.request('HEAD', pathOf(payout))).status).toBe(200);
  expect(await downloads()).toHaveLength(3);
});

test('invoices that cannot be written are listed with the reasons, and refused where there are no others', async () => {
  await addressed(ADDRESS);
  const [reached, also, silent] = [await partner(ADDRESS), await partner(ADDRESS), await partner(null)];
  const payout = await invoiced([reached, also, silent]);
  const [first, second, third] = (await invoicesOf(payout)) as [Json, Json, Json];
  const { bytes } = await taken(pathOf(payout));
  const files = await filesIn(bytes);
  expect(Object.keys(files)).toEqual([
    `invoice-${first.number}-ubl.xml`,
    `invoice-${second.number}-ubl.xml`,
    'skipped.csv',
  ]);
  expect(String(files['skipped.csv'])).toBe(
    'invoice,affiliate_id,reason,message\r\n' +
      `${third.number},${silent},no_electronic_address,set electronic_address of the tax profile of the affiliate first\r\n`,
  );
  await addressed(null);
  await nothingChanges(world, async () => {
    expectRefusal(
      await api.get(pathOf(payout)),
      409,
      'no_electronic_address',
      'no invoice of the payout can be written: set electronic_address of tax_profile of the account first',
    );
  });
});

test('a payout without invoices, an unknown one, one of another account and a format that is not written are refused', async () => {
  const { id } = await makeAffiliate(api);
  await makeCommission(api, id, { amount: 11_900, currency: 'eur' });
  const payout = await completePayout(api, await makePayout(api));
  const other = await world.otherAccount();
  await nothingChanges(world, async () => {
    expectRefusal(await api.get(pathOf(payout)), 409, 'no_invoices', 'issue them first');
    expectRefusal(await other.get(pathOf(payout)), 404, 'resource_missing');
    expectRefusal(await api.get(pathOf({ id: `po_${'0192f8e5'.repeat(4)}` })), 404, 'resource_missing');
    expectRefusal(await api.get(pathOf({ id: 'current' })), 404, 'no_current_payout');
    expectRefusal(await api.get(pathOf(payout, 'html')), 400, 'invalid_query', 'format');
  });
});

test('more invoices than a statement reads are all in the archive, and the rest is not read once the client is gone', async () => {
  const all = Array.from({ length: 201 }, (_, at) => at);
  const header =
    'external_id,email,legal_type,legal_name,tax_country,address_line1,address_city,address_postal_code,tax_id_type,tax_id,' +
    'self_billing_agreed_on,self_billing_agreed_by';
  const rows = all.map(
    (at) =>
      `p${at},p${at}@example.com,business,Partner,DE,Hauptstr. 1,Berlin,10115,vat,${VAT_ID},2020-01-01,Ada`,
  );
  const imported = await api.upload(`${AFFILIATES}/import`, csv(header, ...rows));
  expect(imported.body, imported.text).toMatchObject({ created: all.length });
  const commissions = all.map((at) => ({
    ...{ external_id: `s${at}`, affiliate_external_id: `p${at}`, amount: 11_900, currency: 'eur' },
  }));
  expect((await api.post(`${COMMISSIONS}/batch`, { commissions })).status).toBe(200);
  const payout = await payAndInvoice(all.length);
  const files = await filesIn((await taken(pathOf(payout, 'xml'))).bytes);
  const numbers = (await invoicesOf(payout)).map(({ number }) => `invoice-${number}.xml`);
  expect(numbers).toHaveLength(201);
  expect(Object.keys(files).sort()).toEqual(numbers.sort());

  const reading = 'and (i.affiliate_id, i.currency, i.id) >';
  const { reached, goOn } = holdBack(world, reading);
  const client = new AbortController();
  const response = await fetch(api.url + pathOf(payout, 'xml'), {
    headers: { authorization: `Bearer ${api.key}` },
    signal: client.signal,
  });
  expect(response.status).toBe(200);
  await reached;
  client.abort();
  // the server has seen that it is gone when it answers another request
  expect((await api.get(`${PAYOUTS}/${payout.id}`)).status).toBe(200);
  const proxy = world.latency;
  if (!proxy) throw new Error('a world with latency has a proxy');
  let more = 0;
  proxy.before = (message) => {
    if (message.includes(reading)) more++;
    return undefined;
  };
  goOn();
  expect(Object.keys(await filesIn((await taken(pathOf(payout, 'xml'))).bytes))).toHaveLength(201);
  // two of the archive that was read, none of the one that was not
  expect(more).toBe(2);
  proxy.before = undefined;
});
