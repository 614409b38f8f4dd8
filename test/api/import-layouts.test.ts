import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isLong, rounds } from '../support/depth.ts';
import { ods, odsRow, oneSheet } from '../support/workbooks.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { makeAffiliate, nothingChanges } from './fixtures.ts';

// The layouts of other products, whose sources examples/imports/README.md names, as CSV and as people save them from a spreadsheet.

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

type Query = Readonly<Record<string, string | object>>;

const FOLDER = new URL('../../examples/imports/', import.meta.url);
const AFFILIATE = { kind: 'affiliates' };
const COMMISSION = { kind: 'commissions' };

/** The answers that a file needs, apart from accepted guesses, and what is imported then. */
const LAYOUTS: Readonly<Record<string, readonly [query: Query, report: object]>> = {
  'affiliatewp-affiliates.csv': [AFFILIATE, { created: 3 }],
  'firstpromoter-promoters.csv': [AFFILIATE, { created: 3 }],
  'bank-and-tax.csv': [AFFILIATE, { created: 3 }],
  'affiliatewp-referrals.csv': [
    { ...COMMISSION, paid: 'skip' },
    { created: 3, skipped: 2 },
  ],
  'slicewp-commissions.csv': [COMMISSION, { created: 2, skipped: 1 }],
  'excel-commissions.csv': [
    { ...COMMISSION, dates: 'dmy' },
    { created: 3, totals: [{ currency: 'eur', amount: 226646, count: 3 }] },
  ],
  'refersion-conversions.csv': [
    { ...COMMISSION, paid: 'skip' },
    { created: 1, skipped: 2 },
  ],
  'rewardful-commissions.csv': [COMMISSION, { created: 3, skipped: 1, payouts: 1 }],
  'impact-actions.csv': [COMMISSION, { created: 2, skipped: 1 }],
  'tapfiliate-conversions.csv': [
    { ...COMMISSION, mapping: { commission_amount: 'amount', amount: 'sale_amount' } },
    { created: 2, skipped: 1, totals: [{ currency: 'usd', amount: 2800, count: 2 }] },
  ],
  'dub-commissions.csv': [
    {
      ...COMMISSION,
      mapping: { Earnings: 'amount', Amount: 'sale_amount' },
      values: { status: { processed: 'unpaid' } },
    },
    { created: 2, skipped: 1, totals: [{ currency: 'usd', amount: 3600, count: 2 }] },
  ],
  'shopify-orders.csv': [
    {
      ...COMMISSION,
      mapping: {
        Name: 'order_id',
        'Discount Code': 'affiliate_external_id',
        Subtotal: 'sale_amount',
        rate_bps: { constant: '1500' },
        'Created at': 'occurred_at',
        'Paid at': 'ignore',
      },
    },
    { created: 2, totals: [{ currency: 'eur', amount: 2399, count: 2 }] },
  ],
  'stripe-payments.csv': [
    {
      ...COMMISSION,
      mapping: {
        'affiliate (metadata)': 'affiliate_external_id',
        Amount: 'sale_amount',
        rate_bps: { constant: '2000' },
        'Created (UTC)': 'occurred_at',
      },
    },
    { created: 2, totals: [{ currency: 'usd', amount: 1960, count: 2 }] },
  ],
};

/** The ids of Ada and Charles in the other product. */
const IDS: Readonly<Record<string, readonly [string, string]>> = {
  'impact-actions.csv': ['partner-7', 'partner-9'],
  'shopify-orders.csv': ['ADA10', '9'],
  'stripe-payments.csv': ['ADA10', '9'],
};

/** The cells of a file, as a spreadsheet shows them after opening it. */
function cellsOf(file: Buffer): string[][] {
  const utf8 = file.toString();
  const text = (utf8.includes('\uFFFD') ? file.toString('latin1').replaceAll('\x80', '€') : utf8)
    .replace(/^\uFEFF/, '')
    .trimEnd();
  const [separator = ','] = /[;\t,]/.exec(text) ?? [];
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}]*))(?:${separator}|$)`, 'g');
  return text.split(/\r?\n/).map((line) => {
    const found = [...line.matchAll(cell)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    return line.endsWith(separator) ? found : found.slice(0, -1);
  });
}

const FORMATS: readonly (readonly [format: string, make: (file: Buffer) => Buffer])[] = [
  ['.csv', (file) => file],
  ['.xlsx', (file) => oneSheet(...cellsOf(file))],
  [
    '.ods',
    (file) =>
      ods({
        Sheet1: cellsOf(file)
          .map((cells) => odsRow(...cells))
          .join(''),
      }),
  ],
];

/** A short run previews a layout of each kind; an import that needs an answer, or fails for a line, does not succeed either. */
const COMPARED = ['affiliatewp-affiliates.csv', 'excel-commissions.csv', 'tapfiliate-conversions.csv'];

test('every layout is tested', () => {
  expect(Object.keys(LAYOUTS).toSorted()).toEqual(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith('.csv'))
      .toSorted(),
  );
});

const CASES = Object.entries(LAYOUTS).flatMap(([name, [query, report]]) =>
  // a short run reads one layout as a spreadsheet
  FORMATS.slice(0, rounds(name === 'excel-commissions.csv' ? 3 : 1, 3)).map(
    ([format, make]) => [name, format, make, query, report] as const,
  ),
);

test.each(CASES)('%s is previewed and imported as %s', async (name, _format, make, query, report) => {
  const file = make(readFileSync(new URL(name, FOLDER)));
  if (query.kind === 'commissions') {
    const [ada, charles] = IDS[name] ?? ['7', '9'];
    await makeAffiliate(api, { external_id: ada, email: 'ada@example.com' });
    await makeAffiliate(api, { external_id: charles, email: 'charles@example.com' });
  }
  const { kind = '', ...answers } = query;
  const send = (path: string, given: Query) => {
    const texts = Object.entries({ kind, ...given }).map(([key, value]): [string, string] => [
      key,
      typeof value === 'object' ? JSON.stringify(value) : value,
    ]);
    return api.upload(`/v2/imports${path}?${new URLSearchParams(texts)}`, file);
  };
  const isCompared = isLong || COMPARED.includes(name);
  if (query.mapping === undefined && isCompared) {
    const unanswered = await nothingChanges(world, () => send('/preview', {}));
    expect(unanswered.body.questions).toHaveLength(Object.keys(answers).length);
  }
  if (isCompared) {
    const preview = await nothingChanges(world, () => send('/preview', answers));
    expect(preview.status, preview.text).toBe(200);
    expect(preview.body.questions).toEqual([]);
    expect(preview.body.report).toMatchObject({ failed: 0 });
  }
  const answer = await send('', { ...answers, accept_guesses: 'true' });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({ failed: 0, ...report });
});
