import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  COMMISSIONS,
  completePayout,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  parseCsv,
} from './fixtures.ts';

const hasPdfReader = spawnSync('pdftotext', ['-v']).status === 0;
const world = useWorld();
const api = useAccount(world);

const pathOf = (id: number, format: string, more = '') =>
  `/v2/affiliates/${id}/statement/download?format=${format}${more}`;

/** The text of a PDF, and its properties. */
function readPdf(bytes: Buffer): { text: string; info: string } {
  const [text, info] = [
    spawnSync('pdftotext', ['-layout', '-', '-'], { input: bytes, encoding: 'utf8' }),
    spawnSync('pdfinfo', ['-'], { input: bytes, encoding: 'utf8' }),
  ];
  expect([text.status, info.status], text.stderr + info.stderr).toEqual([0, 0]);
  return { text: text.stdout, info: info.stdout };
}

/** Where a word ends on its line, in points, for each occurrence. */
function rightEdges(bytes: Buffer, word: string): number[] {
  const { stdout } = spawnSync('pdftotext', ['-bbox', '-', '-'], { input: bytes, encoding: 'utf8' });
  return [...stdout.matchAll(/xMax="([\d.]+)"[^>]*>([^<]*)</g)]
    .filter(([, , text]) => text === word)
    .map(([, edge]) => Number(edge));
}

async function pdfOf(id: number, more = ''): Promise<Buffer> {
  const headers = { authorization: `Bearer ${api.key}` };
  const response = await fetch(api.url + pathOf(id, 'pdf', more), { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/pdf');
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="statement-\d+[\w-]*\.pdf"$/,
  );
  return Buffer.from(await response.arrayBuffer());
}

/** Sells for yen, dinar and dollars, and is paid in all of them. */
async function paidInThreeCurrencies(name_first: string): Promise<number> {
  const { id } = await makeAffiliate(api, { name_first, name_last: null });
  for (const [currency, amount] of [
    ['jpy', 1_234_567],
    ['kwd', 1_234_567],
    ['usd', 1_000_000_000_000],
  ] as const) {
    await makeCommission(api, id, { currency, amount, external_id: `sale-${currency}` });
    await completePayout(api, await makePayout(api));
    await makeCommission(api, id, { currency, amount: 7, external_id: `late-${currency}` });
  }
  return id;
}

/** `-1234.50` as documents write it. */
const inGroups = (decimal: string) => decimal.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ',');

describe('the statement of an affiliate as a page to print', () => {
  test('names both sides and the period, and has every entry of the CSV file', async () => {
    await api.patch('/v2/account', { name: 'Muster & Söhne', time_zone: 'Europe/Berlin' });
    const id = await paidInThreeCurrencies('Ada');
    const page = await api.get(pathOf(id, 'html', '&from=1999-01-01'));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-disposition')).toMatch(
      /^inline; filename="statement-\d+-from-1999-01-01\.html"$/,
    );
    for (const text of ['Muster &amp; Söhne', 'Ada', 'from 1999-01-01 until now, days of Europe/Berlin']) {
      expect(page.text).toContain(text);
    }
    const [, ...rows] = parseCsv((await api.get(pathOf(id, 'csv'))).text);
    expect(rows).toHaveLength(17);
    for (const [day, , , amount, what] of rows) {
      for (const cell of [day, inGroups(amount ?? ''), what])
        expect(page.text).toContain(`<bdi>${cell}</bdi>`);
    }
    expect(page.text).toContain('<bdi>1,234,567</bdi>');
    expect(page.text).toContain('<bdi>1,234.567</bdi>');
    expect(page.text).toContain('<bdi>-10,000,000,000.00</bdi>');
  });

  test('runs no script: user text is escaped, and its policy allows no script', async () => {
    const { id } = await makeAffiliate(api, { name_first: '<script>alert(1)</script>' });
    await makeCommission(api, id, { external_id: '"><img src=x onerror=alert(1)>' });
    const page = await api.get(pathOf(id, 'html'));
    expect(page.text).not.toMatch(/<script|<img/);
    expect(page.text).toContain('&lt;script&gt;alert(1)');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline';/,
    );
  });
});

describe('the statement of an affiliate as a PDF', () => {
  test('is a complete tagged document with a language', async () => {
    const bytes = await pdfOf((await makeAffiliate(api)).id, '&year=2026');
    expect(bytes.subarray(0, 8).toString('latin1')).toBe('%PDF-1.7');
    const source = bytes.toString('latin1');
    for (const part of [/\/Lang \(en\)/, /\/Marked true/, /\/S \/H1/, /%%EOF\s*$/])
      expect(source).toMatch(part);
  });

  test.skipIf(!hasPdfReader)('has every amount of the CSV file (skipped without pdftotext)', async () => {
    const id = await paidInThreeCurrencies('Łukasz');
    const { text, info } = readPdf(await pdfOf(id));
    expect(info).toMatch(/^Title: +Statement of Łukasz, from the beginning until now$/m);
    expect(info).toMatch(/^Tagged: +yes$/m);
    const [, ...rows] = parseCsv((await api.get(pathOf(id, 'csv'))).text);
    for (const [day, , , amount, what, reference] of rows) {
      for (const cell of [day, inGroups(amount ?? ''), what, reference]) expect(text).toContain(cell);
    }
    expect(text).toMatch(/Page 2 of 2/);
    // a statement in three currencies has six tables, and the last row of each ends at the right edge
    expect(rightEdges(await pdfOf(id), '0.07').filter((edge) => Math.abs(edge - 539.28) < 1)).toHaveLength(3);
  });

  longRun.test.skipIf(!hasPdfReader)(
    'writes names of many scripts unchanged, and says when it cannot (skipped without pdftotext)',
    async () => {
      const names = [
        'Đặng Ánh',
        'Ґанна',
        'Ελένη',
        'محمد',
        'שרה',
        'Արամ',
        'ნინო',
        'नमस्ते',
        'สมชาย',
        '山田さくら',
        '王小明',
        '김철수',
      ];
      for (const name of names) {
        const { id } = await makeAffiliate(api, { name_first: name, name_last: null });
        const { text } = readPdf(await pdfOf(id));
        expect([
          name,
          text.normalize('NFC').includes(name) || text.includes([...name].reverse().join('')),
        ]).toEqual([name, true]);
        expect(text).not.toContain('Latin ones');
      }
      const { id } = await makeAffiliate(api, { name_first: 'ሰላም', name_last: null });
      const { text } = readPdf(await pdfOf(id));
      expect(text).toMatch(/^.* selam$/m);
      expect(text).toContain('Letters missing from the fonts of this document are written in Latin letters.');
    },
  );

  longRun.test.skipIf(!hasPdfReader)(
    'continues over pages, with its table head on each (skipped without pdftotext)',
    async () => {
      const { id } = await makeAffiliate(api, { external_id: 'many' });
      await importSales('many', 120);
      const { text, info } = readPdf(await pdfOf(id));
      const pages = Number(/^Pages: +(\d+)$/m.exec(info)?.[1]);
      expect(pages).toBeGreaterThan(2);
      expect(
        text
          .split('\f')
          .slice(0, pages)
          .every((page) => /Entry +Id/.test(page)),
      ).toBe(true);
      expect(text).toContain(`Page ${pages} of ${pages}`);
      for (let index = 0; index < 120; index += 1) expect(text).toMatch(new RegExp(` c-${index} `));
    },
  );
});

/** Creates sales of one dollar and a few cents from a file: `c-0`, `c-1`, … */
async function importSales(externalId: string, count: number, day = ''): Promise<void> {
  const rows = Array.from(
    { length: count },
    (_, index) => `c-${index},${externalId},usd,1.0${index % 10},${day}`,
  );
  const file = ['external_id,affiliate_external_id,currency,amount,occurred_at', ...rows, ''].join('\n');
  const answer = await api.upload(`${COMMISSIONS}/import`, file);
  expect(answer.status, answer.text).toBe(200);
}

longRun.test('a document has at most 5,000 entries, and a period with more is refused in words', async () => {
  const { id } = await makeAffiliate(api, { external_id: 'most' });
  await importSales('most', 4999, '2026-01-15');
  await nothingChanges(world, async () => {
    for (const format of ['pdf', 'html']) {
      expectRefusal(await api.get(pathOf(id, format)), 400, 'invalid_query', 'more than 5000 entries');
      expect((await api.get(pathOf(id, format, '&to=2026-01-14'))).status).toBe(200);
    }
    expect((await api.get(pathOf(id, 'csv'))).status).toBe(200);
  });
});

test('an unknown format, and an affiliate of another account, are refused', async () => {
  const { id } = await makeAffiliate(api);
  const other = await makeAffiliate(await world.otherAccount('another shop'));
  await nothingChanges(world, async () => {
    expectRefusal(await api.get(pathOf(id, 'docx')), 400, 'invalid_query', 'format');
    for (const format of ['csv', 'pdf', 'html']) {
      expectRefusal(await api.get(pathOf(other.id, format)), 404, 'resource_missing');
      expectRefusal(await api.get(pathOf(id, format, '&from=2026-02-30')), 400, 'invalid_query', 'from');
    }
  });
});
