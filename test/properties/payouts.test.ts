import { afterAll, beforeAll, expect, test } from 'vitest';
import { unique } from '../api/fixtures.ts';
import type { Answer } from '../support/api.ts';
import { expectOwed, expectStatement } from '../support/balances.ts';
import { keepHouse } from '../support/chores.ts';
import { isLong } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { expectProperty } from '../support/properties.ts';
import { expectReports } from '../support/reports.ts';
import { makeAffiliates } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import { type Command, type Expected, newState, run, type State } from './model.ts';
import { type Observed, observe, PAYOUTS, type Stage, send, stateOf, wrongIn } from './payouts-stage.ts';
import { AFFILIATES, FIRST_SALES, phases, resolve, type Wish } from './payouts-wishes.ts';

const DIGITS = { usd: 100, jpy: 1, kwd: 1000 };

/** What the cases of the recorded seeds reach: each command with each response of the model. */
const ANSWERS = [
  'adjust 201',
  'change 200',
  'complete 200',
  'complete 400 affiliate_not_in_payout',
  'complete 400 invalid_amount',
  'complete 409 payout_is_paid',
  'create 201',
  'create 409 current_payout_exists',
  'create 409 nothing_to_pay',
  'delete 204',
  'delete 409 payout_is_paid',
  'hold 200',
  'hold 409 commission_is_held',
  'hold 409 commission_is_paid',
  'hold 409 commission_is_voided',
  'hold 409 wrong_commission_type',
  'preview 200',
  'refund 201',
  'refund 400 refund_exceeds_rest',
  'refund 409 commission_is_voided',
  'refund 409 wrong_commission_type',
  'return 200',
  'return 400 invalid_body',
  'return 400 return_exceeds_paid',
  'return 404 resource_missing',
  'return 409 already_returned',
  'return 409 line_not_paid',
  'settings 200',
  'take in 200',
  'take in 201',
  'take in 400 invalid_items',
  'take in 409 duplicate_external_id',
  'undo 204',
  'undo 409 return_is_undone',
  'undo 409 return_paid_again',
  'unhold 200',
  'unhold 409 commission_not_held',
  'void 200',
  'void 409 commission_is_bound',
  'void 409 commission_is_paid',
  'void 409 commission_is_voided',
  'void 409 wrong_commission_type',
];

// several clients, each with its own world, since a case mostly waits
const CLIENTS = 3;
const worlds: World[] = [];
beforeAll(async () => {
  for (let client = 0; client < CLIENTS; client++)
    worlds.push(await borrowWorld({ databaseLatencyMs: 3, poolSize: 12 }));
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

const answerOf = ({ status, reason }: Answer) => `${status} ${reason ?? ''}`.trim();

/** What preview and create take and leave out, per currency and reason. */
function planOf({ body }: Answer) {
  return {
    totals: body.totals.map((each: Record<string, unknown>) => [
      each.currency,
      each.amount,
      each.commission_count,
    ]),
    excluded: body.excluded.flatMap((each: { reason: string; totals: Record<string, unknown>[] }) =>
      each.totals.map((total) => [each.reason, total.currency, total.amount, total.commission_count]),
    ),
  };
}

function plannedPlan({ plan }: Expected) {
  const add = (groups: Map<string, [number, number]>, key: string, amount: number, count: number) => {
    const [a, c] = groups.get(key) ?? [0, 0];
    groups.set(key, [a + amount, c + count]);
  };
  const totals = new Map<string, [number, number]>();
  const excluded = new Map<string, [number, number]>();
  for (const line of plan?.lines ?? []) add(totals, line.currency, line.amount, line.count);
  for (const each of plan?.excluded ?? [])
    add(excluded, `${each.reason} ${each.currency}`, each.amount, each.count);
  const list = (groups: Map<string, [number, number]>) =>
    [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, sums]) => [...key.split(' '), ...sums]);
  return { totals: list(totals), excluded: list(excluded) };
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]),
  );
}

/**
 * Sends the commands concurrently; the responses and rows must be those of the model in one of the orders. Returns the
 * responses if every order gives the same.
 */
async function step(stage: Stage, state: State, commands: readonly Command[], before: Observed) {
  const folding = keepHouse(stage.world, 'affiliate balances', 'commission series');
  const answers = await Promise.all(commands.map((command) => send(stage, command, before)));
  await folding;
  const after = await observe(stage);
  const outcomes = permutations([...commands.keys()]).map((order) => {
    const next = structuredClone(state);
    const expected: Expected[] = [];
    for (const index of order) expected[index] = run(next, commands[index] as Command);
    return { next, expected, shape: { answers: expected.map(({ answer }) => answer), state: stateOf(next) } };
  });
  const found = { answers: answers.map(answerOf), state: after.state };
  const match = outcomes.find(({ shape }) => JSON.stringify(shape) === JSON.stringify(found)) ?? outcomes[0];
  if (!match) throw new Error('no command was sent');
  expect(found).toEqual(match.shape);
  for (const [index, expected] of match.expected.entries()) {
    if (expected.plan && commands.length === 1)
      expect(planOf(answers[index] as Answer)).toEqual(plannedPlan(expected));
  }
  const [one = '', ...others] = outcomes.map(({ next, shape }) => JSON.stringify([next, shape.answers]));
  const isCertain = others.every((other) => other === one);
  return { state: match.next, after, answers: isCertain ? match.shape.answers : null };
}

/** Whole months, and some days. */
function periods(): [string, string][] {
  const [yesterday, today] = [-1, 0].map((days) =>
    new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10),
  );
  if (yesterday === undefined || today === undefined) return [];
  return [
    [`${today.slice(0, 7)}-01`, '2999-12-31'],
    [yesterday, today],
  ];
}

/** The final reports: balances and files. */
async function checkReports({ world, api, ids }: Stage, state: State, seen: Observed): Promise<void> {
  const list = (await api.get('/v2/affiliates?sort=-unpaid&per_page=100')).body.data as Record<
    string,
    unknown
  >[];
  for (const [who, id] of ids.entries()) {
    const { body } = await api.get(`/v2/affiliates/${id}`);
    const own = state.rows.filter((row) => row.affiliate === who && !row.voided);
    const balance = [...new Set(own.map((row) => row.currency))].sort().map((code) => {
      const rows = own.filter((row) => row.currency === code);
      const sumIf = (test: (row: (typeof rows)[number]) => boolean) =>
        rows.filter(test).reduce((total, { amount }) => total + amount, 0);
      const isPaid = ({ payout }: { payout: number | null }) =>
        state.payouts.some(({ number, status }) => number === payout && status === 'paid');
      return {
        currency: code,
        pending: sumIf((row) => row.payout === null && row.held),
        unpaid: sumIf((row) => row.payout === null && !row.held),
        in_payout: sumIf((row) => row.payout !== null && !isPaid(row)),
        paid: sumIf(isPaid) - sumIf((row) => row.returned),
      };
    });
    const isListed = ({ pending, unpaid, in_payout, paid }: (typeof balance)[number]) =>
      [pending, unpaid, in_payout, paid].some((amount) => amount !== 0);
    expect(body.balance).toEqual(balance.filter(isListed));
    expect(list.find((row) => row.id === id)).toEqual(body);
    await expectStatement(api, id);
  }
  await expectOwed(api);
  await expectReports(world, api, periods());
  await keepHouse(world, 'affiliate balances', 'commission series');
  await expectOwed(api);
  await expectReports(world, api, periods());
  for (const payout of state.payouts) {
    const file = await api.get(`${PAYOUTS}/${seen.payouts[payout.number]}/download`);
    const [header = '', ...lines] = file.text.trimEnd().split('\r\n');
    const at = (name: string) => header.split(',').indexOf(name);
    const sums: Record<string, number> = {};
    for (const line of lines) {
      const cells = line.split(',');
      const code = (cells[at('currency')] ?? '').toLowerCase();
      const minor = Math.round(Number(cells[at('amount')]) * DIGITS[code as keyof typeof DIGITS]);
      sums[code] = (sums[code] ?? 0) + minor;
    }
    const expected: Record<string, number> = {};
    for (const { currency: code, amount, carried, isPaid } of payout.lines)
      if (isPaid !== false) expected[code] = (expected[code] ?? 0) + amount - carried;
    expect(sums).toEqual(expected);
  }
}

/** Responses by their commands, as 'create 201': those that the model gives in any order of concurrent commands. */
const answered = new Set<string>();

async function play(world: World, list: readonly (readonly Wish[])[], note: (line: string) => void) {
  // an earlier case that broke the books breaks all later ones
  const known = await wrongIn(world);
  const name = unique('case');
  const api = await world.otherAccount(name);
  const stage: Stage = {
    world,
    api,
    account: (await api.get('/v2/account')).body.id,
    ids: await makeAffiliates(api, AFFILIATES, name),
    destinations: [...Array(AFFILIATES).keys()].map((who) => `pay-${name}-${who}@example.com`),
  };
  let state = newState(AFFILIATES);
  let seen = await observe(stage);
  let isCertain = true;
  ({ state, after: seen } = await step(stage, state, [{ do: 'take in', sales: FIRST_SALES }], seen));
  for (const [phase, wishes] of list.entries()) {
    const commands = wishes.flatMap((wish, index) => resolve(state, wish, `${phase}-${index}`) ?? []);
    if (commands.length === 0) continue;
    note(commands.map((command) => JSON.stringify(command)).join('  at once with  '));
    const done = await step(stage, state, commands, seen);
    ({ state, after: seen } = done);
    isCertain &&= done.answers !== null;
    if (isCertain)
      for (const [index, { do: what }] of commands.entries())
        answered.add(`${what} ${done.answers?.[index]}`);
    expect(await wrongIn(world, known)).toEqual(new Set());
  }
  await checkReports(stage, state, seen);
}

test('whatever is done in whatever order, by several at once, money is where the plain model says it is', async () => {
  await expectProperty({
    ...{ name: 'payouts', arbitrary: phases, cases: 1, clients: CLIENTS },
    check: (list, { client, note }) => play(worlds[client] as World, list, note),
  });
  // the cases of a long run reach everything
  if (!isLong) return;
  expect(
    ANSWERS.filter((answer) => !answered.has(answer)),
    'responses that no case was given',
  ).toEqual([]);
});
