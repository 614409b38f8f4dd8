import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Json, makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { rounds } from '../support/depth.ts';
import { expectProperty } from '../support/properties.ts';
import { paymentsIn } from '../support/sepa.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const IBANS = ['DE02120300000000202051', 'DE89370400440532013000'] as const;
const PEOPLE = 6;

/** What happens to an account while its files are downloaded. */
type Step =
  | { readonly kind: 'download'; readonly part: number; readonly rows: number | null }
  | { readonly kind: 'debtor'; readonly iban: number; readonly rows: number }
  | { readonly kind: 'hours'; readonly hours: number }
  | { readonly kind: 'ready'; readonly person: number; readonly isReady: boolean };

const download = fc.record({
  kind: fc.constant('download' as const),
  part: fc.integer({ min: 1, max: 3 }),
  rows: fc.constantFrom(null, null, 2, 3),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: download, weight: 5 },
  fc.record({
    kind: fc.constant('debtor' as const),
    iban: fc.integer({ min: 0, max: 1 }),
    rows: fc.constantFrom(2, 3, 10),
  }),
  fc.record({ kind: fc.constant('hours' as const), hours: fc.constantFrom(0, 48) }),
  fc.record({
    kind: fc.constant('ready' as const),
    person: fc.integer({ min: 0, max: PEOPLE - 1 }),
    isReady: fc.boolean(),
  }),
);

/** A downloaded file. */
interface Downloaded {
  readonly id: string;
  readonly set: string;
  readonly payees: readonly string[];
}

/** An account with a payout of six affiliates, two of them new. */
async function prepare(): Promise<{ api: Api; payout: Json; people: number[] }> {
  const api = await world.otherAccount();
  await api.patch('/v2/account', { debtor: { name: 'Shop', iban: IBANS[0], rows_per_file: 10 } });
  const people: number[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const to = { type: 'sepa', account_holder: 'Zoë Okafor', iban: IBANS[1] };
    const { id } = await makePayee(api, to, { commission: { amount: 100 + index, currency: 'eur' } });
    people.push(id);
  }
  // all but two have had these destinations for long
  await world.query(
    `update affiliate_destinations set created_at = now() - interval '90 days' where affiliate_id = any($1)`,
    [people.slice(2)],
  );
  return { api, payout: await makePayout(api), people };
}

test('whatever changes between downloads, an id has one content, and an affiliate in two files that differ is reported', async () => {
  const run = async (steps: readonly Step[]) => {
    const { api, payout, people } = await prepare();
    const files = `${PAYOUTS}/${payout.id}/payment-files`;
    const bytes = new Map<string, string>();
    const downloads: Downloaded[] = [];
    const shared = (payees: readonly string[], set: string) =>
      payees.filter((payee) => downloads.some((each) => each.set !== set && each.payees.includes(payee)));
    for (const each of steps) {
      if (each.kind === 'debtor') {
        const debtor = { name: 'Shop', iban: IBANS[each.iban], rows_per_file: each.rows };
        await api.patch('/v2/account', { debtor });
      } else if (each.kind === 'hours') {
        await api.patch('/v2/account', { destination_wait_hours: each.hours });
      } else if (each.kind === 'ready') {
        await api.patch(`/v2/affiliates/${people[each.person]}`, { is_ready_for_payout: each.isReady });
      } else {
        const rows = each.rows === null ? '' : `&rows_per_file=${each.rows}`;
        const answer = await api.get(`${files}/sepa?allow_skipped=true&part=${each.part}${rows}`);
        if (answer.status !== 200) {
          expect(['no_such_part', 'empty_payment_file']).toContain(answer.reason);
          continue;
        }
        const id = /<MsgId>(.*?)</.exec(answer.text)?.[1] ?? '';
        expect(answer.text).toContain(`<PmtInfId>${id}<`);
        expect(answer.text).toBe(bytes.get(id) ?? answer.text);
        bytes.set(id, answer.text);
        const set = answer.headers.get('payhook-file-set') ?? '';
        const payees = paymentsIn(answer.text).map(({ reference }) => reference);
        const warned = Number(answer.headers.get('payhook-affiliates-in-other-files'));
        expect(warned).toBe(shared(payees, set).length);
        downloads.push({ id, set, payees });
        const [file] = (await api.get(files)).body.files;
        expect(file.downloads[0]).toMatchObject({ message_id: id, file_set_id: set, is_outdated: false });
        for (const before of file.downloads)
          if (before.file_set_id !== set) expect(before.is_outdated).toBe(true);
      }
    }
    // equal bytes have one id, too
    expect(new Set(bytes.values()).size).toBe(bytes.size);
    const { in_several_files, in_several_files_count } = (await api.get(files)).body;
    const expected = people
      .map((id) => `P1-A${id}`)
      .filter(
        (payee) =>
          new Set(downloads.filter(({ payees }) => payees.includes(payee)).map(({ set }) => set)).size > 1,
      );
    expect(in_several_files.map(({ affiliate_id }: Json) => `P1-A${affiliate_id}`)).toEqual(expected);
    expect(in_several_files_count).toBe(expected.length);
  };
  const steps = fc.array(step, { minLength: 4, maxLength: 14 });
  await expectProperty({
    name: 'downloads of payment files',
    arbitrary: steps,
    cases: rounds(2, 15),
    check: run,
  });
});
