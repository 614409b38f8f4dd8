/*
 * The meaning of payouts, stated a second time and as plainly as possible: a model in memory, without SQL and without
 * regard for speed. Every function takes a state and returns the expected response of the API and the next state.
 */

import { complete, giveBack, undo } from './model-lines.ts';

export interface Row {
  readonly name: string;
  readonly affiliate: number;
  readonly currency: string;
  readonly type: 'sale' | 'bonus' | 'adjustment' | 'clawback';
  readonly original: number;
  amount: number;
  refunded: number;
  /** Number of the payout it is in. */
  payout: number | null;
  voided: boolean;
  held: boolean;
  /** The returned or unpaid part of a line: exempt from the minimum, and cannot be voided by itself. */
  readonly returned: boolean;
}

export interface Line {
  readonly affiliate: number;
  readonly currency: string;
  amount: number;
  count: number;
  isPaid: boolean | null;
  /** The unpaid part of a paid line. */
  carried: number;
  /** Returns that were not undone. */
  returned: number;
}

export interface Exclusion {
  readonly affiliate: number;
  readonly currency: string;
  readonly reason: string;
  amount: number;
  count: number;
}

export interface Payout {
  readonly number: number;
  status: 'unpaid' | 'paid';
  revision: number;
  lines: Line[];
  excluded: Exclusion[];
}

/** Returned money of a line. */
export interface Return {
  readonly name: string;
  readonly payout: number;
  readonly affiliate: number;
  readonly currency: string;
  readonly amount: number;
  undone: boolean;
}

/** An entry of Complete about a line, or without a currency about all lines of an affiliate. */
export interface Entry {
  readonly affiliate: number;
  readonly currency: string | null;
  readonly isPaid: boolean;
  readonly amount: number | null;
}

export interface State {
  affiliates: { active: boolean; ready: boolean; minimum: number | null; destination: boolean }[];
  /** Of the account, in usd. */
  minimum: number;
  rows: Row[];
  payouts: Payout[];
  returns: Return[];
  nextNumber: number;
}

export interface Filters {
  readonly currency?: readonly string[];
  readonly affiliates?: { readonly not: boolean; readonly which: readonly number[] };
  readonly type?: 'sale' | 'bonus';
  /** Needs a currency. */
  readonly totalAtLeast?: number;
  readonly ignoreMinimum?: boolean;
}

/** A command with all its references resolved: the same in the model and over HTTP. */
export type Command =
  | { readonly do: 'take in'; readonly sales: readonly Sale[] }
  | { readonly do: 'preview' | 'create'; readonly filters: Filters }
  | {
      readonly do: 'complete';
      readonly payout: number;
      readonly entries: readonly Entry[];
    }
  | { readonly do: 'delete'; readonly payout: number }
  | {
      readonly do: 'change';
      readonly affiliate: number;
      readonly active?: boolean;
      readonly ready?: boolean;
      readonly minimum?: number | null;
      readonly destination?: boolean;
    }
  | { readonly do: 'settings'; readonly minimum: number }
  | { readonly do: 'refund'; readonly row: string; readonly name: string; readonly amount?: number }
  | { readonly do: 'void' | 'hold' | 'unhold'; readonly row: string }
  | {
      readonly do: 'adjust';
      readonly affiliate: number;
      readonly name: string;
      readonly amount: number;
      readonly currency: string;
    }
  | {
      readonly do: 'return';
      readonly payout: number;
      readonly affiliate: number;
      readonly currency: string | null;
      readonly amount: number | null;
    }
  | { readonly do: 'undo'; readonly name: string };

export interface Sale {
  readonly name: string;
  readonly affiliate: number;
  readonly amount: number;
  readonly currency: string;
  readonly type: 'sale' | 'bonus';
}

/** Status and reason, and for preview and create their lines and exclusions. */
export interface Expected {
  readonly answer: string;
  readonly plan?: { readonly lines: readonly Line[]; readonly excluded: readonly Exclusion[] };
}

export function newState(affiliates: number): State {
  return {
    affiliates: Array.from({ length: affiliates }, () => ({
      ...{ active: true, ready: true, minimum: null, destination: true },
    })),
    minimum: 0,
    rows: [],
    payouts: [],
    returns: [],
    nextNumber: 1,
  };
}

/** Runs a command on the state, which it changes. */
export function run(state: State, command: Command): Expected {
  switch (command.do) {
    case 'take in':
      return takeIn(state, command.sales);
    case 'preview':
      return { answer: '200', plan: plan(state, command.filters) };
    case 'create':
      return create(state, command.filters);
    case 'complete':
      return complete(state, command.payout, command.entries);
    case 'delete':
      return remove(state, command.payout);
    case 'change':
      return changeAffiliate(state, command);
    case 'settings':
      state.minimum = command.minimum;
      return { answer: '200' };
    case 'adjust': {
      const { affiliate, name, amount, currency } = command;
      return add(state, {
        ...blank,
        name,
        affiliate,
        currency,
        type: 'adjustment',
        original: amount,
        amount,
      });
    }
    case 'return':
      return giveBack(state, command);
    case 'undo':
      return undo(state, command.name);
    default:
      return changeRow(state, command);
  }
}

function changeAffiliate(state: State, command: Command & { readonly do: 'change' }): Expected {
  const affiliate = state.affiliates[command.affiliate];
  if (!affiliate) return { answer: '404 resource_missing' };
  const { active, ready, minimum, destination } = command;
  // shown in the unpaid payout: whether its files have the affiliate
  const payout = current(state);
  const isInside = payout?.lines.some((line) => line.affiliate === command.affiliate);
  const isChanged =
    (ready ?? affiliate.ready) !== affiliate.ready ||
    (destination ?? affiliate.destination) !== affiliate.destination;
  if (payout && isInside && isChanged) payout.revision += 1;
  if (destination !== undefined) affiliate.destination = destination;
  if (active !== undefined) affiliate.active = active;
  if (ready !== undefined) affiliate.ready = ready;
  if (minimum !== undefined) affiliate.minimum = minimum;
  return { answer: '200' };
}

export const blank = { refunded: 0, payout: null, voided: false, held: false, returned: false };

function add(state: State, row: Row): Expected {
  const known = state.rows.find(({ name }) => name === row.name);
  if (known) {
    const same =
      known.affiliate === row.affiliate &&
      known.currency === row.currency &&
      known.type === row.type &&
      known.original === row.original;
    return { answer: same ? '200' : '409 duplicate_external_id' };
  }
  state.rows.push(row);
  return { answer: '201' };
}

function takeIn(state: State, sales: readonly Sale[]): Expected {
  const rowOf = (sale: Sale): Row => ({ ...blank, ...sale, original: sale.amount });
  const [only] = sales;
  if (only && sales.length === 1) return add(state, rowOf(only));
  const before = structuredClone(state.rows);
  for (const sale of sales) {
    if (!add(state, rowOf(sale)).answer.startsWith('409')) continue;
    state.rows = before;
    return { answer: '400 invalid_items' };
  }
  return { answer: '200' };
}

const current = (state: State) => state.payouts.find(({ status }) => status === 'unpaid');

export const groupKey = ({ affiliate, currency }: { affiliate: number; currency: string }) =>
  `${affiliate} ${currency}`;

const sum = (rows: readonly { amount: number }[]) => rows.reduce((total, { amount }) => total + amount, 0);

/** Why a row does not count, whatever the sum of its group. */
function setAside(state: State, row: Row): string {
  const affiliate = state.affiliates[row.affiliate];
  if (!affiliate?.active) return 'affiliate_inactive';
  if (!affiliate.ready) return 'not_ready';
  return row.held ? 'on_hold' : '';
}

/** The order of rules: filter, debts, net, total, minimum. */
function plan(state: State, filters: Filters): { lines: Line[]; excluded: Exclusion[] } {
  const { currency, affiliates, type, totalAtLeast, ignoreMinimum } = filters;
  const matches = (row: Row) => type === undefined || row.type === type;
  const open = state.rows.filter(
    (row) =>
      row.payout === null &&
      !row.voided &&
      (currency === undefined || currency.includes(row.currency)) &&
      (affiliates === undefined || affiliates.which.includes(row.affiliate) !== affiliates.not) &&
      // a filter by type does not exclude a debt
      (row.amount < 0 || matches(row)),
  );
  const groups = new Map<string, Row[]>();
  for (const row of open) {
    const aside = setAside(state, row);
    const key = `${groupKey(row)} ${aside}`;
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  const lines: Line[] = [];
  const excluded: Exclusion[] = [];
  for (const [key, rows] of groups) {
    const [row] = rows;
    if (!row || !rows.some(matches)) continue;
    const amount = sum(rows);
    const reason = key.split(' ')[2] || reasonOf(rows, amount);
    if (reason !== '') {
      if (reason !== 'out of the total') {
        excluded.push({
          affiliate: row.affiliate,
          currency: row.currency,
          reason,
          amount,
          count: rows.length,
        });
      }
      continue;
    }
    lines.push({
      affiliate: row.affiliate,
      currency: row.currency,
      amount,
      count: rows.length,
      isPaid: null,
      carried: 0,
      returned: 0,
    });
  }
  return { lines: sorted(lines), excluded: sorted(excluded) };

  function reasonOf(rows: readonly Row[], amount: number): string {
    if (amount < 0) return 'negative_balance';
    // neither paid nor left out: a settled debt
    if (amount === 0) return 'out of the total';
    if (totalAtLeast !== undefined && amount < totalAtLeast) return 'out of the total';
    const minimum = state.affiliates[rows[0]?.affiliate ?? 0]?.minimum ?? state.minimum;
    const applies = rows[0]?.currency === 'usd' && !ignoreMinimum && !rows.some(({ returned }) => returned);
    return applies && amount < minimum ? 'below_minimum' : '';
  }
}

/** In the order of affiliate, currency and reason. */
function sorted<Item extends { affiliate: number; currency: string; reason?: string }>(
  items: Item[],
): Item[] {
  const key = ({ affiliate, currency, reason = '' }: Item) => `${affiliate} ${currency} ${reason}`;
  return items.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function create(state: State, filters: Filters): Expected {
  if (current(state)) return { answer: '409 current_payout_exists' };
  const { lines, excluded } = plan(state, filters);
  if (lines.length === 0) return { answer: '409 nothing_to_pay' };
  const payout: Payout = { number: state.nextNumber, status: 'unpaid', revision: 1, lines, excluded };
  for (const line of lines) {
    for (const row of state.rows) {
      const taken =
        groupKey(row) === groupKey(line) &&
        row.payout === null &&
        !row.voided &&
        !row.held &&
        (row.amount < 0 || filters.type === undefined || row.type === filters.type);
      if (taken) row.payout = payout.number;
    }
  }
  state.nextNumber += 1;
  state.payouts.push(payout);
  return { answer: '201', plan: structuredClone({ lines, excluded }) };
}

export const find = (state: State, number: number) =>
  state.payouts.find((payout) => payout.number === number);

function remove(state: State, number: number): Expected {
  const payout = find(state, number);
  if (!payout) return { answer: '404 resource_missing' };
  if (payout.status === 'paid') return { answer: '409 payout_is_paid' };
  for (const row of state.rows) if (row.payout === number) row.payout = null;
  state.payouts = state.payouts.filter((each) => each !== payout);
  return { answer: '204' };
}

function changeRow(
  state: State,
  command: Command & { readonly do: 'refund' | 'void' | 'hold' | 'unhold' },
): Expected {
  const row = state.rows.find(({ name }) => name === command.row);
  if (!row) return { answer: '404 resource_missing' };
  const paid = row.payout !== null && find(state, row.payout)?.status === 'paid';
  if (command.do === 'refund') return refund(state, row, paid, command.name, command.amount);
  if (command.do === 'unhold') {
    if (!row.held) return { answer: '409 commission_not_held' };
    row.held = false;
    return { answer: '200' };
  }
  const debt =
    row.type === 'clawback' || (command.do === 'hold' && row.type === 'adjustment' && row.amount < 0);
  if (debt) return { answer: '409 wrong_commission_type' };
  if (row.voided) return { answer: '409 commission_is_voided' };
  if (paid) return { answer: '409 commission_is_paid' };
  if (command.do === 'hold') {
    if (row.held) return { answer: '409 commission_is_held' };
    noteHeld(state, row);
    leave(state, row, () => {
      row.held = true;
    });
  } else {
    if (row.returned) return { answer: '409 commission_is_bound' };
    voidRow(state, row);
  }
  return { answer: '200' };
}

/** A commission that is held inside a payout is shown as left out of it, with the other exclusions. */
function noteHeld(state: State, row: Row): void {
  const payout = row.payout === null ? undefined : find(state, row.payout);
  if (!payout) return;
  const { affiliate, currency } = row;
  const isSame = (each: Exclusion) => groupKey(each) === groupKey(row) && each.reason === 'on_hold';
  const known = payout.excluded.find(isSame) ?? { amount: 0, count: 0 };
  payout.excluded = sorted([
    ...payout.excluded.filter((each) => !isSame(each)),
    { affiliate, currency, reason: 'on_hold', amount: known.amount + row.amount, count: known.count + 1 },
  ]);
}

export function voidRow(state: State, row: Row): void {
  leave(state, row, () => {
    row.voided = true;
    row.held = false;
  });
}

/** Takes a row out of its payout and applies the rules to the rest of its group. */
function leave(state: State, row: Row, change: () => void): void {
  const number = row.payout;
  row.payout = null;
  change();
  if (number !== null) settle(state, number, row);
}

function refund(state: State, row: Row, paid: boolean, name: string, wanted: number | undefined): Expected {
  if (row.type === 'clawback' || row.type === 'adjustment') return { answer: '409 wrong_commission_type' };
  if (row.voided) return { answer: '409 commission_is_voided' };
  const rest = row.original - row.refunded;
  const amount = wanted ?? rest;
  if (rest === 0 || amount > rest) return { answer: '400 refund_exceeds_rest' };
  row.refunded += amount;
  if (paid) {
    const { affiliate, currency } = row;
    const clawback = {
      ...blank,
      affiliate,
      currency,
      type: 'clawback',
      original: -amount,
      amount: -amount,
    } as const;
    state.rows.push({ ...clawback, name: `clawback:${name}` });
  } else if (amount === row.amount) {
    voidRow(state, row);
  } else {
    row.amount -= amount;
    if (row.payout !== null) settle(state, row.payout, row);
  }
  return { answer: '201' };
}

/** A group whose net is not above zero leaves whole and is listed; an empty payout is deleted. */
function settle(state: State, number: number, group: { affiliate: number; currency: string }): void {
  const payout = find(state, number);
  if (!payout) return;
  const key = groupKey(group);
  const rows = state.rows.filter((row) => row.payout === number && groupKey(row) === key);
  const amount = sum(rows);
  const line = payout.lines.find((each) => groupKey(each) === key);
  payout.revision += 1;
  if (line && amount > 0) {
    line.amount = amount;
    line.count = rows.length;
    return;
  }
  payout.lines = payout.lines.filter((each) => each !== line);
  for (const row of rows) row.payout = null;
  if (amount < 0) {
    const { affiliate, currency } = group;
    const reason = 'negative_balance';
    payout.excluded = sorted([
      ...payout.excluded.filter((each) => groupKey(each) !== key || each.reason !== reason),
      { affiliate, currency, reason, amount, count: rows.length },
    ]);
  }
  if (payout.lines.length === 0) state.payouts = state.payouts.filter((each) => each !== payout);
}
