import {
  count,
  duration,
  type Group,
  interleaved,
  median,
  noGoal,
  type Result,
  type Sizes,
  seconds,
} from './measure.ts';
import { type Bench, startBench } from './program.ts';
import { seedAffiliates, seedCommissions, settle } from './seed.ts';

const PATH = '/v2/affiliates/payouts';
/** Lines of the payout, by default 100,000. */
const LINES_PER_AFFILIATE = 100;
const RULES = [
  'destination_changed',
  'shared_destination',
  'first_payout_above',
  'amount_above_history',
  'imported_together',
] as const;

const change = (bench: Bench, setting: object) => bench.send('PATCH', '/v2/account', setting);
const look = (action: 'off' | 'warn') => ({
  payout_signals: Object.fromEntries(RULES.map((rule) => [rule, { action }])),
});

/** Every affiliate has agreed to self-billing and has a VAT id, so that each line has its tax. */
async function seedSuppliers(bench: Bench): Promise<void> {
  await change(bench, {
    tax_profile: { legal_name: 'Shop', country: 'DE', address: { line1: 'Weg 1', city: 'Berlin' } },
    invoicing: { rules: [{ country: 'DE', has_vat_id: true, category: 'S', rate: 1900 }] },
  });
  // the number is not opened: no invoice is issued
  await bench.pg.query(
    `insert into affiliate_tax_profiles (account_id, affiliate_id, legal_type, legal_name, country, address, tax_id_type, number,
       ending, self_billing)
     select account_id, id, 'business', 'Partner', 'DE', '{"line1": "Weg 1", "city": "Berlin"}', 'vat', '\\x00', '5976',
            '{"agreed_on": "2020-01-01", "agreed_by": "Partner", "expires_on": null}'
     from affiliates where account_id = $1`,
    [bench.account],
  );
  await bench.pg.query('analyze affiliate_tax_profiles');
  await settle(bench.pg);
}

/** Seconds of a preview, which must have that many lines, after a change of the account's settings. */
async function preview(bench: Bench, setting: object, lines: number): Promise<number> {
  await change(bench, setting);
  let answer = '';
  const time = await seconds(async () => {
    answer = await bench.send('POST', `${PATH}/preview`, {});
  });
  const { affiliate_count: found } = JSON.parse(answer) as { affiliate_count: number };
  if (found !== lines) throw new Error(`the preview has ${found} affiliates of ${lines}`);
  return time;
}

/** Seconds of creating the payout, which is deleted again. */
async function create(bench: Bench, setting: object): Promise<number> {
  await change(bench, setting);
  let answer = '';
  const time = await seconds(async () => {
    answer = await bench.send('POST', PATH, {});
  });
  const { id } = JSON.parse(answer) as { id: string };
  await bench.send('DELETE', `${PATH}/${id}`);
  await settle(bench.pg);
  return time;
}

/** A measure with a setting against the same without it. */
function compared(
  measure: string,
  without: string,
  samples: { readonly with: number[]; readonly without: number[] },
): Result {
  const [own, bare] = [median(samples.with), median(samples.without)];
  return {
    measure,
    figure: duration(own),
    against: `${without} ${duration(bare)}`,
    ratio: own / bare,
    ...noGoal,
    samples,
  };
}

/** A payout of many affiliates: what signals, tax on top and withholding cost. */
export const payoutLines: Group = {
  name: 'payout-lines',
  area: 'Payouts of many affiliates',
  async *run({ affiliates, cheapRounds, dearRounds }: Sizes, note) {
    const lines = affiliates * LINES_PER_AFFILIATE;
    const bench = await startBench();
    await seedAffiliates(bench.pg, bench.account, lines);
    await seedCommissions(bench.pg, { account: bench.account, count: lines, affiliates: lines });
    await seedSuppliers(bench);
    note('looking for signals');
    yield compared(
      `preview of ${count(lines)} lines, all signals`,
      'without signals',
      await interleaved(cheapRounds, {
        with: () => preview(bench, look('warn'), lines),
        without: () => preview(bench, look('off'), lines),
      }),
    );
    note('taxing');
    const [net, gross] = [{ commissions_are: 'net' }, { commissions_are: 'gross' }];
    yield compared(
      `preview of ${count(lines)} lines with tax on top`,
      'gross',
      await interleaved(cheapRounds, {
        with: () => preview(bench, net, lines),
        without: () => preview(bench, gross, lines),
      }),
    );
    yield compared(
      `create a payout of ${count(lines)} lines with tax on top`,
      'gross',
      await interleaved(dearRounds + 1, {
        with: () => create(bench, net),
        without: () => create(bench, gross),
      }),
    );
    note('withholding');
    await bench.pg.query(`update affiliate_tax_profiles set country = 'US'`);
    await bench.pg.query(`update affiliates set payout_method = 'other'`);
    await change(bench, gross);
    await settle(bench.pg);
    yield compared(
      `preview of ${count(lines)} lines with backup withholding`,
      'without',
      await interleaved(cheapRounds, {
        with: () => preview(bench, { backup_withholding: 'at_threshold' }, lines),
        without: () => preview(bench, { backup_withholding: 'none' }, lines),
      }),
    );
    await bench.stop();
  },
};
