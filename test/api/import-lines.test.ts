import { beforeEach, describe, expect, test } from 'vitest';
import { expectRefusal, type Json, makeCommission, nothingChanges } from './fixtures.ts';
import { csv, simple, useImports } from './import-support.ts';

const imports = useImports();
const { world, api, upload, stored, refused } = imports;
let ada: number;
beforeEach(() => {
  ada = imports.ada();
});

describe('a bad line', () => {
  const header =
    'external_id,affiliate_id,program_id,amount,currency,sale_amount,rate_bps,type,occurred_at,customer_email';

  test.each([
    [`,ADA,,1,,,,,,`, 'external_id'],
    [`${'x'.repeat(256)},ADA,,1,,,,,,`, 'external_id'],
    ['a,,,1,,,,,,', 'affiliate_id'],
    ['a,0,,1,,,,,,', 'affiliate_id'],
    ['a,1.0,,1,,,,,,', 'affiliate_id'],
    ['a,99999999999999999999,,1,,,,,,', 'affiliate_id'],
    ['a,ada,,1,,,,,,', 'affiliate_id'],
    ['a,ADA,999999,1,,,,,,', 'program_id'],
    ['a,ADA,x,1,,,,,,', 'program_id'],
    ['a,ADA,,,,,,,,', 'amount'],
    ['a,ADA,,0,,,,,,', 'amount'],
    ['a,ADA,,-1,,,,,,', 'amount'],
    ['a,ADA,,1.005,usd,,,,,', 'amount'],
    ['a,ADA,,1.5,jpy,,,,,', 'amount'],
    ['a,ADA,,1.2345,kwd,,,,,', 'amount'],
    ['a,ADA,,"1,000",,,,,,', 'amount'],
    ['a,ADA,,"1,50",,,,,,', 'amount'],
    ['a,ADA,,1e3,,,,,,', 'amount'],
    ['a,ADA,,$1,,,,,,', 'amount'],
    ['a,ADA,,+1,,,,,,', 'amount'],
    ['a,ADA,,.5,,,,,,', 'amount'],
    ['a,ADA,,1.,,,,,,', 'amount'],
    ['a,ADA,,٣,,,,,,', 'amount'],
    ['a,ADA,,10000000000.01,,,,,,', 'amount'],
    ['a,ADA,,999999999999999999999999,,,,,,', 'amount'],
    ['a,ADA,,1,xyz,,,,,', 'currency'],
    ['a,ADA,,1,$,,,,,', 'currency'],
    ['a,ADA,,1,,x,,,,', 'sale_amount'],
    ['a,ADA,,1,,-1,,,,', 'sale_amount'],
    ['a,ADA,,1,,,10001,,,', 'rate_bps'],
    ['a,ADA,,1,,,10.5,,,', 'rate_bps'],
    ['a,ADA,,1,,,,refund,,', 'type'],
    ['a,ADA,,1,,,,clawback,,', 'type'],
    ['a,ADA,,1,,,,,yesterday,', 'occurred_at'],
    ['a,ADA,,1,,,,,2025-02-30,', 'occurred_at'],
    ['a,ADA,,1,,,,,01/02/2025,', 'occurred_at'],
    ['a,ADA,,1,,,,,,nobody', 'customer_email'],
  ])('%s is named with its number and its column, and stops the whole file', async (line, column) => {
    const file = csv(header, `first,${ada},,1,,,,,,`, line.replace('ADA', String(ada)));
    await refused(file, 'invalid_lines', '1 of 2', `line 3: ${column}`);
  });

  test('has its number in the file, even when earlier cells contain line ends', async () => {
    const file = csv('external_id,affiliate_id,amount,description', `a,${ada},1,"x\ny\nz"`, `b,${ada},x,`);
    await refused(file, 'invalid_lines', 'line 5: amount');
  });

  test('that contradicts a stored record or an earlier line is named', async () => {
    await makeCommission(api, ada, { external_id: 'known', amount: 500 });
    await refused(simple(`known,${ada},5.01`, `a,${ada},1`), 'invalid_lines', 'line 2', 'known');
    await refused(simple(`a,${ada},1`, `b,${ada},1`, `a,${ada},2`), 'invalid_lines', 'line 4', '"a"');
    const same = await upload(simple(`known,${ada},5`, `a,${ada},1`, `a,${ada},1`));
    expect(same.body).toMatchObject({ lines: 3, created: 1, unchanged: 2 });
  });

  test('one of fifteen hundred: the first thousand are reported and all are counted', async () => {
    const many = simple(...Array.from({ length: 1500 }, (_, index) => `${index},${ada},x`), `good,${ada},1`);
    await refused(many, 'invalid_lines', '1500 of 1501', 'line 2:', 'line 21:', 'and 1480 more');
    const dry = await nothingChanges(world, () => upload(many, '?dry_run=true'));
    expect(dry.body).toMatchObject({ lines: 1501, created: 1, failed: 1500 });
    expect(dry.body.errors).toHaveLength(1000);
    expect(dry.body.errors.map((error: Json) => error.line)).toEqual(
      Array.from({ length: 1000 }, (_, index) => index + 2),
    );
    // lines that the database rejects count too
    const unknown = simple(...Array.from({ length: 1500 }, (_, index) => `${index},999999,1`));
    expect((await upload(unknown, '?dry_run=true')).body).toMatchObject({ failed: 1500, totals: [] });
  });
});

describe('a dry run', () => {
  test('reports what would happen, and nothing happens', async () => {
    await makeCommission(api, ada, { external_id: 'known', amount: 100 });
    const file = csv(
      'external_id,affiliate_id,amount,currency',
      `a,${ada},1.50,usd`,
      `b,${ada},700,jpy`,
      `c,${ada},x,usd`,
      `known,${ada},1,usd`,
      `d,999999,1,usd`,
    );
    const answer = await nothingChanges(world, () => upload(file, '?dry_run=true'));
    expect(answer.body).toEqual({
      object: 'commission_import',
      dry_run: true,
      lines: 5,
      created: 2,
      unchanged: 1,
      failed: 2,
      totals: [
        { currency: 'jpy', amount: 700, count: 1 },
        { currency: 'usd', amount: 250, count: 2 },
      ],
      errors: [
        { line: 4, message: expect.stringContaining('amount') },
        { line: 6, message: expect.stringContaining('999999') },
      ],
    });
  });

  test('then the import with partial takes the good lines and reports the others', async () => {
    const file = simple(`a,${ada},1`, `b,${ada},x`, `c,${ada},3`, `a,${ada},9`);
    const dry = await upload(file, '?dry_run=true');
    const real = await upload(file, '?partial=true');
    expect({ ...real.body, dry_run: true }).toEqual(dry.body);
    expect(real.body).toMatchObject({ created: 2, failed: 2 });
    expect(await stored()).toEqual([
      ['a', 100, 'usd'],
      ['c', 300, 'usd'],
    ]);
  });

  test.each(['dry_run=1', 'dry_run=yes', 'dry_run=', 'partial=TRUE', 'dry_run'])(
    '%s is neither yes nor no',
    async (query) => {
      await nothingChanges(world, async () =>
        expectRefusal(
          await upload(simple(`a,${ada},1`), `?${query}`),
          400,
          'invalid_query',
          query.split('=')[0] ?? '',
        ),
      );
    },
  );
});
