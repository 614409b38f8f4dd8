import { afterAll, beforeAll, expect, test } from 'vitest';
import { unique } from '../api/fixtures.ts';
import type { Answer, Api } from '../support/api.ts';
import { expectStatement } from '../support/balances.ts';
import { keepHouse } from '../support/chores.ts';
import { isLong } from '../support/depth.ts';
import { IMBALANCES, MISSING_EVENTS, WRONG_HISTORY } from '../support/imbalances.ts';
import { borrowWorld } from '../support/pool.ts';
import { expectProperty } from '../support/properties.ts';
import { makeAffiliates } from '../support/seed.ts';
import type { World } from '../support/world.ts';
import { type Command, type Line, newState, run, type Sale, type State } from './refunds-model.ts';
import { AFFILIATES, phases, resolve, type Wish } from './refunds-wishes.ts';

const COMMISSIONS = '/v2/affiliates/commissions';
const REFUNDS = '/v2/affiliates/refunds';
const PAYOUTS = '/v2/affiliates/payouts';
const HOLD_DAYS = 10;
const DAY = 86_400_000;

/** What the cases of the recorded seeds reach: each command with each response of the model. */
const ANSWERS = [
  'complete 200',
  'complete 409 payout_is_paid',
  'create 201',
  'create 409 current_payout_exists',
  'create 409 nothing_to_pay',
  'delete 204',
  'delete 409 payout_is_paid',
  'end hold 200',
  'hold 200',
  'hold 409 commission_is_held',
  'hold 409 commission_is_paid',
  'hold 409 commission_is_voided',
  'minimum 200',
  'refund 201',
  'refund 400 refund_exceeds_rest',
  'refund 409 commission_is_voided',
  'refund 409 wrong_commission_type',
  'refund order 201',
  'refund order 400 duplicate_entry',
  'refund order 400 invalid_amount',
  'refund order 400 invalid_body',
  'refund order 400 refund_exceeds_rest',
  'reverse 200',
  'reverse 409 refund_is_reversed',
  'reverse 409 refund_is_settled',
  'take in 200',
  'take in 201',
  'void 200',
  'void 409 commission_is_paid',
  'void 409 commission_is_voided',
  'void 409 wrong_commission_type',
];

// several clients, each with its own world
const CLIENTS = 3;
const worlds: World[] = [];
beforeAll(async () => {
  for (let client = 0; client < CLIENTS; client++)
    worlds.push(await borrowWorld({ databaseLatencyMs: 3, poolSize: 8 }));
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

interface Stage {
  readonly world: World;
  readonly api: Api;
  readonly account: string;
  readonly ids: readonly number[];
}

interface Observed {
  readonly commissions: Readonly<Record<string, string>>;
  readonly payouts: Readonly<Record<number, string>>;
  /** Refunds in the order in which they take new commissions. */
  readonly refunds: readonly string[];
  readonly state: unknown;
}

const given = ({ amount, sale: part_ }: Line) => ({
  ...(amount === null ? {} : { amount }),
  ...(part_ === null ? {} : { sale_amount: part_ }),
});

const saleBody = ({ ids }: Stage, { name, order: order_id, line, affiliate, currency, ...rest }: Sale) => ({
  ...{ external_id: name, affiliate_id: ids[affiliate], order_id, order_line_id: line, currency },
  ...{ amount: rest.amount, sale_amount: rest.sale },
  occurred_at: new Date(Date.now() + (rest.holdEnds - HOLD_DAYS) * DAY).toISOString(),
});

function orderBody({ name, order: order_id, lines }: Command & { readonly do: 'refund order' }) {
  const [first] = lines;
  const isWhole = first?.line === null && first.commission === null;
  const named = lines.map((line) => ({
    ...(line.line === null ? { external_id: line.commission } : { order_line_id: line.line }),
    ...given(line),
  }));
  return { external_id: name, order_id, ...(isWhole && first ? given(first) : { lines: named }) };
}

async function send(stage: Stage, command: Command, seen: Observed): Promise<string> {
  const { api, world } = stage;
  const answerOf = ({ status, reason }: Answer) => `${status} ${reason ?? ''}`.trim();
  const row = (name: string) => `${COMMISSIONS}/${seen.commissions[name]}`;
  switch (command.do) {
    case 'take in': {
      const bodies = command.sales.map((each) => saleBody(stage, each));
      const one = bodies.length === 1;
      return answerOf(
        one
          ? await api.post(COMMISSIONS, bodies[0])
          : await api.post(`${COMMISSIONS}/batch`, { commissions: bodies }),
      );
    }
    case 'refund order':
      return answerOf(await api.post(REFUNDS, orderBody(command)));
    case 'refund': {
      const body = { external_id: command.name, ...given(command.what) };
      return answerOf(await api.post(`${row(command.row)}/refund`, body));
    }
    case 'reverse':
      return answerOf(await api.post(`${REFUNDS}/${command.refund}/reverse`));
    case 'minimum':
      return answerOf(await api.patch('/v2/account', { minimum_payout: { usd: command.minimum } }));
    case 'create':
      return answerOf(await api.post(PAYOUTS));
    case 'delete':
      return answerOf(await api.delete(`${PAYOUTS}/${seen.payouts[command.payout]}`));
    case 'complete': {
      const entries = command.affiliates.map((index) => ({ affiliate_id: stage.ids[index], is_paid: true }));
      return answerOf(await api.put(`${PAYOUTS}/${seen.payouts[command.payout]}`, { commissions: entries }));
    }
    case 'end hold':
      // instead of days of waiting: the sale happened earlier
      await world.query(
        `with before as (
             select *, available_at - interval '30 days' as ended, held_available_at - interval '30 days' as held_ended
             from commissions where public_id('com', id) = $1),
           after as (
             update commissions c set available_at = b.ended, held_available_at = b.held_ended
             from before b where c.account_id = b.account_id and c.id = b.id returning c.*)
         insert into affiliate_balance_notes (account_id, affiliate_id, currency, available_at, owed, paid)
         select account_id, affiliate_id, currency, available_at, amount, 0
         from (
           select account_id, affiliate_id, currency, available_at, -amount as amount, payout_id, voided_at from before
           union all
           select account_id, affiliate_id, currency, available_at, amount, payout_id, voided_at from after) changed
         where payout_id is null and voided_at is null`,
        [seen.commissions[command.row]],
      );
      return '200';
    default:
      return answerOf(await api.post(`${row(command.row)}/${command.do}`));
  }
}

const by = <Item>(items: readonly Item[], key: (item: Item) => string) =>
  [...items].sort((a, b) => (key(a) < key(b) ? -1 : 1));

/** The model's state in the shape of the database's. */
function stateOf(state: State): unknown {
  return {
    rows: by(state.rows, ({ name }) => name).map((row) => [
      ...[row.name, row.owed, row.refunded, row.payout, row.voided, row.held],
    ]),
    refunds: by(state.refunds, ({ name }) => name).map((refund) => [
      refund.name,
      refund.reversed
        ? 'reversed'
        : refund.lines.some(({ status }) => status !== 'applied')
          ? 'waiting'
          : 'applied',
      refund.lines.map(({ status }) => status),
      by(
        state.rows.flatMap((row) =>
          row.took.filter((took) => took.refund === refund.name).map((took) => ({ row: row.name, took })),
        ),
        ({ row }) => row,
      ).map(({ row, took }) => [row, took.amount, took.sale, took.capped]),
    ]),
    payouts: state.payouts.map(({ number, paid }) => [number, paid ? 'paid' : 'unpaid']),
    minimum: state.minimum,
  };
}

async function observe({ world, account }: Stage): Promise<Observed> {
  const [found] = await world.query<{
    seen: Record<'rows' | 'refunds' | 'payouts', unknown[][]> & { minimum: number; order: string[] };
  }>(
    `with own as (select id from accounts where public_id('acc', id) = $1),
       c as (select c.*, coalesce((select concat_ws(':', 'clawback', r.external_id, o.external_id)
               from refund_items i join refunds r on r.id = i.refund_id join commissions o on o.id = i.commission_id
               where i.clawback_id = c.id), c.external_id) as name
             from commissions c where c.account_id = (select id from own))
     select json_build_object(
       'rows', (select coalesce(json_agg(json_build_array(name, amount, refunded_amount,
                  (select number from payouts p where p.id = payout_id), voided_at is not null,
                  available_at = 'infinity', public_id('com', id)) order by name collate "C"), '[]') from c),
       'refunds', (select coalesce(json_agg(json_build_array(external_id, status,
            (select coalesce(json_agg(status order by position), '[]') from refund_lines l where l.refund_id = r.id),
            (select coalesce(json_agg(json_build_array(c.external_id, i.amount, i.sale_amount, i.capped)
                                      order by c.external_id collate "C"), '[]')
             from refund_items i join c on c.id = i.commission_id where i.refund_id = r.id))
          order by external_id collate "C"), '[]') from refunds r where account_id = (select id from own)),
       'payouts', (select coalesce(json_agg(json_build_array(number, status, public_id('po', id)) order by number), '[]')
                   from payouts where account_id = (select id from own)),
       'order', (select coalesce(json_agg(external_id order by id), '[]') from refunds
                 where account_id = (select id from own)),
       'minimum', (select coalesce((minimum_payout ->> 'usd')::int, 0) from accounts
                   where id = (select id from own))) as seen`,
    [account],
    'observed',
  );
  const { rows = [], refunds = [], payouts = [], minimum = 0, order = [] } = found?.seen ?? {};
  const keyed = (list: unknown[][]) => Object.fromEntries(list.map((each) => [each[0], each.at(-1)]));
  return {
    commissions: keyed(rows),
    payouts: keyed(payouts),
    refunds: order,
    state: {
      rows: rows.map((each) => each.slice(0, -1)),
      refunds: refunds.map(([name, status, lines, items]) => [
        ...[name, status],
        // one commission by its id: no lines
        ...[lines, items],
      ]),
      payouts: payouts.map((each) => each.slice(0, -1)),
      minimum,
    },
  };
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
  const orders =
    commands.length === 1
      ? [[0]]
      : [
          [0, 1],
          [1, 0],
        ];
  const outcomes = orders.map((inOrder) => {
    const next = structuredClone(state);
    const expected: string[] = [];
    for (const index of inOrder) expected[index] = run(next, commands[index] as Command);
    return { next, shape: { answers: expected, state: stateOf(next) } };
  });
  const found = { answers, state: after.state };
  const match = outcomes.find(({ shape }) => JSON.stringify(shape) === JSON.stringify(found)) ?? outcomes[0];
  expect(found).toEqual(match?.shape);
  const isCertain = outcomes.every((outcome) => JSON.stringify(outcome) === JSON.stringify(outcomes[0]));
  // two refunds that wait look alike in either order
  match?.next.refunds.sort((a, b) => after.refunds.indexOf(a.name) - after.refunds.indexOf(b.name));
  const { world } = stage;
  expect(
    await world.query(
      `${IMBALANCES} union all select * from (${MISSING_EVENTS}) untold union all select * from (${WRONG_HISTORY}) mistold`,
      [],
      'wrong',
    ),
  ).toEqual([]);
  return { state: match?.next ?? state, after, answers: isCertain ? answers : null };
}

/** Responses by their commands: those that the model gives in any order of concurrent commands. */
const answered = new Set<string>();

async function play(world: World, list: readonly (readonly Wish[])[], note: (line: string) => void) {
  const name = unique('case');
  const api = await world.otherAccount(name);
  await api.patch('/v2/account', { hold_days: HOLD_DAYS });
  const ids = await makeAffiliates(api, AFFILIATES, name);
  const stage: Stage = { world, api, account: (await api.get('/v2/account')).body.id, ids };
  let state = newState();
  let seen = await observe(stage);
  let isCertain = true;
  for (const [phase, wishes] of list.entries()) {
    const commands = wishes.flatMap((wish, index) => resolve(state, wish, `${phase}-${index}`) ?? []);
    // time is no request: it passes alone
    const some = commands.some((command) => command.do === 'end hold') ? commands.slice(0, 1) : commands;
    if (some.length === 0) continue;
    note(some.map((command) => JSON.stringify(command)).join('  at once with  '));
    const done = await step(stage, state, some, seen);
    ({ state, after: seen } = done);
    isCertain &&= done.answers !== null;
    if (isCertain)
      for (const [index, { do: what }] of some.entries()) answered.add(`${what} ${done.answers?.[index]}`);
  }
  for (const id of ids) await expectStatement(api, id);
}

test('whatever is refunded, reversed and created, in whatever order, takes what the plain model says', async () => {
  await expectProperty({
    ...{ name: 'refunds', arbitrary: phases, cases: 1, clients: CLIENTS },
    // a broken world would fail every later case
    shrinks: false,
    check: (list, { client, note }) => play(worlds[client] as World, list, note),
  });
  // the cases of a long run reach everything
  if (!isLong) return;
  expect(
    ANSWERS.filter((answer) => !answered.has(answer)),
    'responses that no case was given',
  ).toEqual([]);
});
