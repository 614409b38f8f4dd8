import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import copyStreams from 'pg-copy-streams';
import { count, duration, type Group, interleaved, median, seconds } from './measure.ts';
import { type Bench, startBench, temporaryFolder } from './program.ts';
import { emptyBooks, seedAffiliates, settle } from './seed.ts';

const GOAL = 2.5;
const PATH = '/v2/affiliates/commissions/import';
/** The same lines under titles of another product, with every column mapped. */
const MAPPED_GOAL = 0.8;
const MAPPED_TITLES: Readonly<Record<string, string>> = {
  external_id: 'Commission ID',
  affiliate_external_id: 'Partner ID',
  currency: 'Currency',
  amount: 'Commission',
  sale_amount: 'Order Total',
  rate_bps: 'Rate',
  order_id: 'Order',
  customer_email: 'Buyer',
  product_id: 'SKU',
  product_name: 'Product',
  occurred_at: 'Date',
};
const mappedPath = () => {
  const mapping = Object.entries(MAPPED_TITLES).map(([field, title]) => [
    title,
    field === 'rate_bps' ? 'ignore' : field,
  ]);
  const said = { encoding: 'utf-8', separator: 'comma', decimal: 'point', dates: 'iso', paid: 'import' };
  const query = { kind: 'commissions', ...said, mapping: JSON.stringify(Object.fromEntries(mapping)) };
  return `/v2/imports?${new URLSearchParams(query)}`;
};
const HEADER =
  'external_id,affiliate_external_id,currency,amount,sale_amount,rate_bps,order_id,customer_email,product_id,product_name,occurred_at\n';

interface Line {
  readonly affiliate: number;
  readonly external: string;
  readonly cents: number;
  readonly rest: readonly string[];
  readonly at: string;
}

function lineAt(index: number, affiliates: number): Line {
  const cents = 100 + ((index * 7919) % 5000);
  return {
    affiliate: (index % affiliates) + 1,
    external: `ext-${index}`,
    cents,
    rest: [
      `order-${index}`,
      `customer${index % 5000}@example.org`,
      `plan-${index % 20}`,
      `Plan number ${index % 20}`,
    ],
    at: new Date(Date.UTC(2026, 0, 1) + index * 20_000).toISOString(),
  };
}

const decimal = (cents: number) => (cents / 100).toFixed(2);

function csvLine({ affiliate, external, cents, rest, at }: Line): string {
  const money = `usd,${decimal(cents)},${decimal(cents * 10)},1000`;
  return `${external},aff-${affiliate},${money},${rest.join(',')},${at}\n`;
}

async function writeLines(path: string, total: number, head: string, line: (index: number) => string) {
  function* chunks() {
    let text = head;
    for (let index = 1; index <= total; index += 1) {
      text += line(index);
      if (text.length > 1 << 18) {
        yield text;
        text = '';
      }
    }
    yield text;
  }
  await pipeline(Readable.from(chunks()), createWriteStream(path));
}

/** A file of commissions for the import, of affiliates that `seedAffiliates` made. */
export const writeCommissions = (path: string, total: number, affiliates: number) =>
  writeLines(path, total, HEADER, (index) => csvLine(lineAt(index, affiliates)));

const COPY = `copy commissions (account_id, external_id, affiliate_id, type, currency, amount, original_amount,
  sale_amount, rate_bps, order_id, customer_email, product_id, product_name, occurred_at, available_at) from stdin`;

/** The same rows as a CSV file for COPY, as the program would write them without checks. */
async function writeCopyFile(bench: Bench, path: string, total: number, affiliates: number): Promise<void> {
  const { rows } = await bench.pg.query<{ ids: string[] }>(
    'select array_agg(id order by id) as ids from affiliates',
  );
  const ids = rows[0]?.ids ?? [];
  await writeLines(path, total, '', (index) => {
    const { affiliate, external, cents, rest, at } = lineAt(index, affiliates);
    const money = `sale\tusd\t${cents}\t${cents}\t${cents * 10}\t1000`;
    return `${bench.account}\t${external}\t${ids[affiliate - 1]}\t${money}\t${rest.join('\t')}\t${at}\t${at}\n`;
  });
}

/** A CSV import through HTTP against a bare COPY of the same rows into the same table, indexes and foreign keys. */
export const importing: Group = {
  name: 'import',
  area: 'Payouts',
  async *run({ imported: commissions, affiliates, dearRounds }, note) {
    const bench = await startBench();
    const folder = temporaryFolder();
    const [csv, raw, theirs] = ['commissions.csv', 'commissions.copy', 'theirs.csv'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    note(`writing a file of ${count(commissions)}`);
    await seedAffiliates(bench.pg, bench.account, affiliates);
    await writeCommissions(csv, commissions, affiliates);
    await writeCopyFile(bench, raw, commissions, affiliates);
    const titles = HEADER.trim()
      .split(',')
      .map((name) => MAPPED_TITLES[name]);
    await writeLines(theirs, commissions, `${titles.join()}\n`, (index) =>
      csvLine(lineAt(index, affiliates)),
    );
    const fresh = async () => {
      await emptyBooks(bench.pg);
      await settle(bench.pg);
    };

    note('importing');
    const take = async (path: string, file: string) => {
      await fresh();
      const time = await seconds(() => bench.upload(path, createReadStream(file)));
      const { rows } = await bench.pg.query<{ n: number }>('select count(*)::int as n from commissions');
      if (rows[0]?.n !== commissions) throw new Error(`${rows[0]?.n} rows were imported of ${commissions}`);
      return time;
    };
    const samples = await interleaved(dearRounds, {
      async copy() {
        await fresh();
        return seconds(() => pipeline(createReadStream(raw), bench.pg.query(copyStreams.from(COPY))));
      },
      csv: () => take(PATH, csv),
      mapped: () => take(mappedPath(), theirs),
    });
    const [own, bare] = [median(samples.csv), median(samples.copy)];
    yield {
      measure: `CSV import of ${count(commissions)} commissions`,
      figure: duration(own),
      against: `bare COPY ${duration(bare)}`,
      ratio: own / bare,
      goal: `≤ ${GOAL} ×`,
      met: own / bare <= GOAL,
      samples,
    };
    const mapped = median(samples.mapped);
    yield {
      measure: 'The same as another product writes it, mapped',
      figure: duration(mapped),
      against: `our own columns ${duration(own)}`,
      ratio: own / mapped,
      goal: `≥ ${MAPPED_GOAL} of the speed`,
      met: own / mapped >= MAPPED_GOAL,
      samples,
    };
    await bench.stop();
  },
};
