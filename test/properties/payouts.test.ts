import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { expectOwed, expectStatement } from '../support/balances.ts';
import { keepHouse } from '../support/chores.ts';
import { IMBALANCES, MISTOLD, UNTOLD } from '../support/imbalances.ts';
import { makeAffiliates } from '../support/seed.ts';
import { startWorld, type World } from '../support/world.ts';
import {
  type Command,
  type Entry,
  type Expected,
  type Filters,
  type Line,
  newState,
  run,
  type State,
} from './model.ts';

const PAYOUTS = '/v2/affiliates/payouts';
const COMMISSIONS = '/v2/affiliates/commissions';
const AFFILIATES = 3;
const CURRENCIES = ['usd', 'jpy', 'kwd'] as const;
const DIGITS = { usd: 100, jpy: 1, kwd: 1000 };
// FC_SEED and FC_PATH repeat a failure, FC_RUNS asks for more; without FC_RUNS the time is bounded
const RUNS = Number(process.env.FC_RUNS ?? 0);
const BUDGET_MS = 15_000;
const SHRINKING_MS = 45_000;

// several clients, each with a world of its own, since a run mostly waits; a failure is repeated by one
const CLIENTS = process.env.FC_SEED ? 1 : 4;
const worlds: World[] = [];
beforeAll(async () => {
  for (let client = 0; client < CLIENTS; client++)
    worlds.push(await startWorld({ databaseLatencyMs: 3, poolSize: 12 }));
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

/** Of a line: nothing, not paid, paid, or paid a part of it; 2 is more than it is worth. */
type Said = boolean | number | null;

/** A command before it is known which rows and payouts there are: numbers choose among them. */
type Wish =
  | {
      readonly do: 'take in';
      readonly sales: readonly (readonly [number, number, number, boolean])[];
      readonly again: boolean;
    }
  | { readonly do: 'preview' | 'create'; readonly filters: Filters }
  | {
      readonly do: 'complete';
      readonly pick: number;
      readonly paid: readonly (Said | readonly Said[])[];
      readonly stranger: boolean;
    }
  | { readonly do: 'delete'; readonly pick: number }
  | { readonly do: 'undo'; readonly pick: number }
  | {
      readonly do: 'return';
      readonly pick: number;
      readonly affiliate: number;
      readonly currency: number | null;
      readonly amount: number | null;
    }
  | {
      readonly do: 'change';
      readonly affiliate: number;
      readonly active?: boolean;
      readonly ready?: boolean;
      readonly minimum?: number | null;
      readonly destination?: boolean;
    }
  | { readonly do: 'settings'; readonly minimum: number }
  | { readonly do: 'refund'; readonly pick: number; readonly amount: number | null }
  | { readonly do: 'void' | 'hold' | 'unhold'; readonly pick: number }
  | { readonly do: 'adjust'; readonly affiliate: number; readonly amount: number; readonly currency: number };

const pick = fc.nat(40);
const affiliate = fc.nat(AFFILIATES - 1);
const currency = fc.nat(CURRENCIES.length - 1);
const filters: fc.Arbitrary<Filters> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Filters>({}) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        currency: fc.subarray([...CURRENCIES], { minLength: 1 }),
        affiliates: fc.record({
          not: fc.boolean(),
          which: fc.subarray([...Array(AFFILIATES).keys()], { minLength: 1 }),
        }),
        type: fc.constantFrom('sale' as const, 'bonus' as const),
        ignoreMinimum: fc.boolean(),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Filters>,
  },
  {
    weight: 1,
    arbitrary: fc.record({
      currency: fc.constant(['usd'] as const),
      totalAtLeast: fc.integer({ min: 1, max: 900 }),
    }),
  },
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('take in' as const),
      sales: fc.array(fc.tuple(affiliate, fc.integer({ min: 1, max: 500 }), currency, fc.boolean()), {
        minLength: 1,
        maxLength: 4,
      }),
      again: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('create' as const), filters }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('preview' as const), filters }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      pick,
      paid: fc.array(
        fc.oneof(
          fc.constantFrom<Said>(true, true, false, null),
          fc.array(fc.constantFrom<Said>(true, true, 0.01, 0.5, 1, 2, false, null), {
            minLength: CURRENCIES.length,
            maxLength: CURRENCIES.length,
          }),
        ),
        { minLength: AFFILIATES, maxLength: AFFILIATES },
      ),
      stranger: fc.nat(9).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('return' as const),
      pick,
      affiliate,
      currency: fc.option(currency),
      amount: fc.option(fc.integer({ min: 1, max: 400 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), pick }) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ do: fc.constant('change' as const), affiliate, active: fc.boolean() }),
      fc.record({ do: fc.constant('change' as const), affiliate, ready: fc.boolean() }),
      fc.record({ do: fc.constant('change' as const), affiliate, destination: fc.boolean() }),
      fc.record({ do: fc.constant('settings' as const), minimum: fc.constantFrom(0, 300, 700) }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      affiliate,
      minimum: fc.option(fc.integer({ min: 1, max: 1200 })),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      pick,
      amount: fc.option(fc.integer({ min: 1, max: 400 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('void' as const, 'hold', 'unhold'), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('adjust' as const),
      affiliate,
      amount: fc.integer({ min: -600, max: 300 }).filter((amount) => amount !== 0),
      currency,
    }),
  },
);

/** Names the rows and payouts a wish chooses; null when there is none to choose. */
function resolve(state: State, asked: Wish, name: string): Command | null {
  const oneOf = <Item>(items: readonly Item[], at: number) => items[at % Math.max(items.length, 1)];
  switch (asked.do) {
    case 'take in': {
      const known = asked.again ? oneOf(state.rows, asked.sales[0]?.[1] ?? 0) : undefined;
      const sales = asked.sales.map(([who, amount, which, bonus], index) => ({
        name: index === 0 && known && /^s/.test(known.name) ? known.name : `s${name}-${index}`,
        affiliate: who,
        amount,
        currency: CURRENCIES[which] ?? 'usd',
        type: bonus ? ('bonus' as const) : ('sale' as const),
      }));
      return { do: 'take in', sales };
    }
    case 'complete': {
      const payout = oneOf(
        state.payouts.filter(({ status }) => status === 'unpaid').concat(state.payouts),
        asked.pick,
      );
      if (!payout) return null;
      const entries = entriesOf(payout.lines, asked.paid, asked.stranger);
      return entries.length === 0 ? null : { do: 'complete', payout: payout.number, entries };
    }
    case 'delete': {
      const payout = oneOf(state.payouts, asked.pick);
      return payout ? { do: 'delete', payout: payout.number } : null;
    }
    case 'return': {
      const payout = oneOf(state.payouts, asked.pick);
      const code = asked.currency === null ? null : (CURRENCIES[asked.currency] ?? null);
      const { affiliate: who, amount } = asked;
      return payout ? { do: 'return', payout: payout.number, affiliate: who, currency: code, amount } : null;
    }
    case 'undo': {
      const found = oneOf(state.returns, asked.pick);
      return found ? { do: 'undo', name: found.name } : null;
    }
    case 'refund': {
      const row = oneOf(state.rows, asked.pick);
      if (!row) return null;
      return {
        do: 'refund',
        row: row.name,
        name: `r${name}`,
        ...(asked.amount === null ? {} : { amount: asked.amount }),
      };
    }
    case 'void':
    case 'hold':
    case 'unhold': {
      const row = oneOf(state.rows, asked.pick);
      return row ? { do: asked.do, row: row.name } : null;
    }
    case 'adjust': {
      const { affiliate: who, amount, currency: which } = asked;
      return { do: 'adjust', affiliate: who, name: `a${name}`, amount, currency: CURRENCIES[which] ?? 'usd' };
    }
    default:
      return asked;
  }
}

/** What is said of each affiliate, or of each currency of one: of lines that are there, and with `stranger` of others. */
function entriesOf(
  lines: readonly Line[],
  paid: readonly (Said | readonly Said[])[],
  stranger: boolean,
): Entry[] {
  return paid.flatMap((said, who): Entry[] => {
    const own = lines.filter((line) => line.affiliate === who);
    if (!Array.isArray(said)) {
      const isSaid = said !== null && (own.length > 0 || stranger);
      return isSaid ? [{ affiliate: who, currency: null, isPaid: said === true, amount: null }] : [];
    }
    return (said as readonly Said[]).flatMap((each, index) => {
      const currency = CURRENCIES[index] ?? 'usd';
      const line = own.find((one) => one.currency === currency);
      if (each === null || (!line && !stranger)) return [];
      const amount = typeof each === 'number' ? Math.max(1, Math.floor((line?.amount ?? 1) * each)) : null;
      return [{ affiliate: who, currency, isPaid: each !== false, amount }];
    });
  });
}

/** An account of its own for one run. */
interface Stage {
  readonly world: World;
  readonly api: Api;
  readonly account: string;
  readonly ids: readonly number[];
  /** The PayPal address of each affiliate. */
  readonly destinations: readonly string[];
}

function filtersBody(
  { currency: codes, affiliates, type, totalAtLeast, ignoreMinimum }: Filters,
  ids: readonly number[],
) {
  const which = affiliates?.which.map((each) => ids[each]);
  return {
    filters: {
      ...(codes ? { currency: codes } : {}),
      ...(affiliates ? { affiliate_id: affiliates.not ? { nin: which } : which } : {}),
      ...(type ? { type } : {}),
      ...(totalAtLeast === undefined ? {} : { total: { gte: totalAtLeast } }),
    },
    ...(ignoreMinimum === undefined ? {} : { ignore_minimum: ignoreMinimum }),
  };
}

interface Observed {
  readonly commissions: Record<string, string>;
  readonly payouts: Record<number, string>;
  /** Paths of returns by name. */
  readonly returns: Record<string, string>;
  /** As `stateOf` gives it. */
  readonly state: unknown;
}

async function send(stage: Stage, command: Command, before: Observed): Promise<Answer> {
  const { api, ids } = stage;
  const saleBody = (sale: {
    name: string;
    affiliate: number;
    amount: number;
    currency: string;
    type: string;
  }) => ({
    external_id: sale.name,
    affiliate_id: ids[sale.affiliate],
    amount: sale.amount,
    currency: sale.currency,
    type: sale.type,
  });
  switch (command.do) {
    case 'take in': {
      const [only] = command.sales;
      return only && command.sales.length === 1
        ? api.post(COMMISSIONS, saleBody(only))
        : api.post(`${COMMISSIONS}/batch`, { commissions: command.sales.map(saleBody) });
    }
    case 'preview':
      return api.post(`${PAYOUTS}/preview`, filtersBody(command.filters, ids));
    case 'create':
      return api.post(PAYOUTS, filtersBody(command.filters, ids));
    case 'complete':
      return api.put(`${PAYOUTS}/${before.payouts[command.payout]}`, {
        commissions: command.entries.map(({ affiliate: who, isPaid: is_paid, currency: code, amount }) => ({
          affiliate_id: ids[who],
          is_paid,
          ...(code === null ? {} : { currency: code }),
          ...(amount === null ? {} : { amount }),
        })),
      });
    case 'delete':
      return api.delete(`${PAYOUTS}/${before.payouts[command.payout]}`);
    case 'return':
      return api.post(
        `${PAYOUTS}/${before.payouts[command.payout]}/affiliates/${ids[command.affiliate]}/returned`,
        {
          reason: 'closed',
          ...(command.currency === null ? {} : { currency: command.currency }),
          ...(command.amount === null ? {} : { amount: command.amount }),
        },
      );
    case 'undo':
      return api.delete(before.returns[command.name] ?? '');
    case 'change':
      return api.patch(`/v2/affiliates/${ids[command.affiliate]}`, {
        ...(command.active === undefined ? {} : { status: command.active ? 'active' : 'inactive' }),
        ...(command.ready === undefined ? {} : { is_ready_for_payout: command.ready }),
        ...(command.minimum === undefined
          ? {}
          : { minimum_payout: command.minimum === null ? null : { usd: command.minimum } }),
        ...(command.destination === undefined
          ? {}
          : { paypal_email: command.destination ? stage.destinations[command.affiliate] : null }),
      });
    case 'settings':
      return api.patch('/v2/account', { minimum_payout: command.minimum ? { usd: command.minimum } : {} });
    case 'refund':
      return api.post(`${COMMISSIONS}/${before.commissions[command.row]}/refund`, {
        external_id: command.name,
        ...(command.amount === undefined ? {} : { amount: command.amount }),
      });
    case 'adjust':
      return api.post(`/v2/affiliates/${ids[command.affiliate]}/adjustments`, {
        external_id: command.name,
        amount: command.amount,
        currency: command.currency,
      });
    default:
      return api.post(`${COMMISSIONS}/${before.commissions[command.row]}/${command.do}`);
  }
}

/** The model's state in the shape in which the database's is read. */
function stateOf(state: State): unknown {
  const by = <Item>(items: readonly Item[], key: (item: Item) => string) =>
    [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return {
    rows: by(
      state.rows.map((row) => [
        row.name,
        row.amount,
        row.original,
        row.refunded,
        row.payout,
        row.voided,
        row.held,
      ]),
      ([name]) => String(name),
    ),
    payouts: by(state.payouts, ({ number }) => String(number).padStart(6, '0')).map((payout) => [
      payout.number,
      payout.status,
      payout.revision,
      by(payout.lines, (line) => `${line.affiliate} ${line.currency}`).map((line) => [
        line.affiliate,
        line.currency,
        line.amount,
        line.count,
        line.isPaid,
        line.carried,
        line.returned,
      ]),
      payout.excluded.map((each) => [each.affiliate, each.currency, each.reason, each.amount, each.count]),
    ]),
    // what two changes at once left behind decides the next payout
    minimum: state.minimum,
    affiliates: state.affiliates.map((each) => [each.active, each.ready, each.minimum, each.destination]),
  };
}

async function observe({ world, account, ids }: Stage): Promise<Observed> {
  const [row] = await world.query<{
    seen: {
      rows: unknown[][];
      payouts: unknown[][];
      returns: [string, string][];
      minimum: number;
      affiliates: unknown[][];
    };
  }>(
    `with own as (select id from accounts where public_id('acc', id) = $1),
       who as (select id, (ord - 1)::int as n from unnest($2::int8[]) with ordinality u (id, ord)),
       back as (select *, row_number() over (partition by payout_id, affiliate_id, currency order by id) as nth
                from payout_returns where account_id = (select id from own)),
       c as (select c.*, r.number as returned_number, who.n, back.nth from commissions c join who on who.id = c.affiliate_id
             left join payouts r on r.account_id = c.account_id and r.id = c.returns_payout_id
             left join back on back.commission_id = c.id
             where c.account_id = (select id from own)),
       named as (select *, case when returned_number is not null 
                                then concat_ws(':', case when nth is null then 'carried' else 'returned' end, returned_number, n, currency, nth)
                                else regexp_replace(external_id, '^payhook:|:com_.*', '', 'g') end as name from c)
     select json_build_object(
       'rows', (select coalesce(json_agg(json_build_array(name, amount, original_amount, refunded_amount,
                  (select number from payouts p where p.account_id = named.account_id and p.id = payout_id),
                  voided_at is not null, available_at = 'infinity', public_id('com', id)) order by name collate "C"), '[]') from named),
       'payouts', (select coalesce(json_agg(json_build_array(number, status, revision,
           (select coalesce(json_agg(json_build_array(n, t.currency, t.amount, t.commission_count, t.is_paid, t.carried_amount,
                                                      t.returned_amount)
                                     order by n, t.currency), '[]')
            from payout_lines l join payout_line_totals t using (account_id, payout_id, affiliate_id)
            join who on who.id = l.affiliate_id where l.account_id = p.account_id and l.payout_id = p.id),
           (select coalesce(json_agg(json_build_array(n, x.currency, x.reason, x.amount, x.commission_count)
                                     order by n, x.currency, x.reason), '[]')
            from payout_exclusions x join who on who.id = x.affiliate_id
            where x.account_id = p.account_id and x.payout_id = p.id),
           public_id('po', id)) order by number), '[]') from payouts p where account_id = (select id from own)),
       'returns', (select coalesce(json_agg(json_build_array(named.name, concat('${PAYOUTS}/', public_id('po', back.payout_id),
                     '/affiliates/', back.affiliate_id, '/returned/', public_id('ret', back.id)))), '[]')
                   from back join named on named.id = back.commission_id),
       'minimum', (select coalesce((minimum_payout ->> 'usd')::int, 0) from accounts where id = (select id from own)),
       'affiliates', (select json_agg(json_build_array(status = 'active', is_ready_for_payout,
                                (minimum_payout ->> 'usd')::int, paypal_email is not null) order by n)
                      from affiliates a join who on who.id = a.id
                      where account_id = (select id from own))) as seen`,
    [account, ids],
  );
  const { rows = [], payouts = [], returns = [], minimum, affiliates } = row?.seen ?? {};
  return {
    commissions: Object.fromEntries(rows.map((each) => [each[0], each.at(-1)])),
    payouts: Object.fromEntries(payouts.map((each) => [each[0], each.at(-1)])),
    returns: Object.fromEntries(returns),
    state: {
      rows: rows.map((each) => each.slice(0, -1)),
      payouts: payouts.map((each) => each.slice(0, -1)),
      minimum,
      affiliates,
    },
  };
}

/** What does not balance or was not told, apart from what is known. */
async function wrongIn(world: World, known: ReadonlySet<string> = new Set()): Promise<Set<string>> {
  const found = await world.query<{ what: string; detail: string }>(
    `${IMBALANCES} union all select * from (${UNTOLD}) untold union all select * from (${MISTOLD}) mistold`,
  );
  return new Set(found.map(({ what, detail }) => `${what}: ${detail}`).filter((each) => !known.has(each)));
}

const answerOf = ({ status, reason }: Answer) => `${status} ${reason ?? ''}`.trim();

/** What preview and create say they take and leave, per currency and reason. */
function saidPlan({ body }: Answer) {
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

/** Sends the commands at once; the answers and rows must be those of the model in one of the orders. */
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
      expect(saidPlan(answers[index] as Answer)).toEqual(plannedPlan(expected));
  }
  return { state: match.next, after };
}

/** What is told at the end: balances and files. */
async function checkTold({ world, api, ids }: Stage, state: State, seen: Observed): Promise<void> {
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
    const isTold = ({ pending, unpaid, in_payout, paid }: (typeof balance)[number]) =>
      [pending, unpaid, in_payout, paid].some((amount) => amount !== 0);
    expect(body.balance).toEqual(balance.filter(isTold));
    expect(list.find((row) => row.id === id)).toEqual(body);
    await expectStatement(api, id);
  }
  await expectOwed(api);
  await keepHouse(world, 'affiliate balances');
  await expectOwed(api);
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

test('whatever is done in whatever order, by several at once, money is where the plain model says it is', async () => {
  const phases = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.tuple(wish) },
      { weight: 1, arbitrary: fc.array(wish, { minLength: 2, maxLength: 3 }) },
    ),
    { minLength: 6, maxLength: 24 },
  );
  let done = 0;
  /** What each run that failed did. */
  const failed = new Map<string, readonly string[]>();
  const runOnce = async (world: World, list: readonly (readonly Wish[])[], history: string[]) => {
    done += 1;
    const number = done;
    // what an earlier run broke stays broken
    const known = await wrongIn(world);
    const api = await world.otherAccount(`run ${number}`);
    const stage: Stage = {
      world,
      api,
      account: (await api.get('/v2/account')).body.id,
      ids: await makeAffiliates(api, AFFILIATES, `run-${number}`),
      destinations: [...Array(AFFILIATES).keys()].map((who) => `pay-run-${number}-${who}@example.com`),
    };
    let state = newState(AFFILIATES);
    let seen = await observe(stage);
    const first = [0, 1, 2].flatMap((who) =>
      [250, 400].map((amount, index) => ({
        ...{ name: `s-${who}-${index}`, affiliate: who, amount, type: 'sale' as const },
        currency: CURRENCIES[(who + index) % 2] ?? 'usd',
      })),
    );
    ({ state, after: seen } = await step(stage, state, [{ do: 'take in', sales: first }], seen));
    for (const [phase, wishes] of list.entries()) {
      const commands = wishes.flatMap((asked, index) => resolve(state, asked, `${phase}-${index}`) ?? []);
      if (commands.length === 0) continue;
      history.push(commands.map((command) => JSON.stringify(command)).join('  at once with  '));
      ({ state, after: seen } = await step(stage, state, commands, seen));
      expect(await wrongIn(world, known)).toEqual(new Set());
    }
    await checkTold(stage, state, seen);
  };
  let deadline = RUNS ? Number.POSITIVE_INFINITY : performance.now() + BUDGET_MS;
  const propertyIn = (world: World) =>
    fc.asyncProperty(phases, async (list) => {
      if (performance.now() > deadline) return;
      const history: string[] = [];
      try {
        await runOnce(world, list, history);
      } catch (error) {
        if (failed.size === 0) deadline = performance.now() + SHRINKING_MS;
        failed.set(JSON.stringify(list), history);
        throw error;
      }
    });
  const seed = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);
  const results = await Promise.all(
    worlds.map((world, client) =>
      fc.check(propertyIn(world), {
        numRuns: RUNS || 1000,
        seed: seed + client,
        ...(process.env.FC_PATH ? { path: process.env.FC_PATH } : {}),
      }),
    ),
  );
  for (const result of results) {
    if (!result.failed || !result.counterexample) continue;
    const error = result.errorInstance as Error;
    const again = `FC_SEED=${result.seed} FC_PATH=${result.counterexamplePath}`;
    const commands = failed.get(JSON.stringify(result.counterexample[0])) ?? [];
    throw new Error(
      `after ${result.numRuns} runs and ${result.numShrinks} steps of shrinking (${again}):\n${commands.join('\n')}\n${error.message}`,
      { cause: error },
    );
  }
  expect(done).toBeGreaterThan(2);
});
