/*
 * The meaning of refunds, stated a second time and as plainly as possible: a model in memory, without SQL and without
 * regard for speed. `run` returns the expected response of the API and changes the state.
 */

export interface Sale {
  readonly name: string;
  readonly order: string;
  readonly line: string | null;
  readonly affiliate: number;
  readonly currency: string;
  readonly amount: number;
  readonly sale: number;
  /** Days after which its hold ends; below zero it has ended. */
  readonly holdEnds: number;
}

interface Took {
  readonly refund: string;
  amount: number;
  /** null: given as commission. */
  readonly sale: number | null;
  readonly capped: boolean;
  /** The payout that was reduced by it. */
  clawback: Row | null;
  readonly wasHeld: boolean;
}

export interface Row extends Sale {
  owed: number;
  refunded: number;
  payout: number | null;
  voided: boolean;
  held: boolean;
  readonly isClawback: boolean;
  readonly took: Took[];
}

export interface Line {
  readonly line: string | null;
  readonly commission: string | null;
  readonly amount: number | null;
  readonly sale: number | null;
}

interface StoredLine extends Line {
  status: 'waiting' | 'in_doubt' | 'applied';
  boundLine: string | null;
  currency: string | null;
  isOpen: boolean;
}

export interface Refund {
  readonly name: string;
  readonly order: string | null;
  readonly lines: StoredLine[];
  reversed: boolean;
}

export interface State {
  rows: Row[];
  refunds: Refund[];
  payouts: { number: number; paid: boolean }[];
  /** Of the account, in dollars. */
  minimum: number;
  nextNumber: number;
}

export type Command =
  | { readonly do: 'take in'; readonly sales: readonly Sale[] }
  | {
      readonly do: 'refund order';
      readonly name: string;
      readonly order: string;
      readonly lines: readonly Line[];
    }
  | { readonly do: 'refund'; readonly name: string; readonly row: string; readonly what: Line }
  | { readonly do: 'reverse'; readonly refund: string }
  | { readonly do: 'void' | 'hold'; readonly row: string }
  | { readonly do: 'end hold'; readonly row: string }
  | { readonly do: 'minimum'; readonly minimum: number }
  | { readonly do: 'create' }
  | { readonly do: 'complete'; readonly payout: number; readonly affiliates: readonly number[] }
  | { readonly do: 'delete'; readonly payout: number };

export const newState = (): State => ({ rows: [], refunds: [], payouts: [], minimum: 0, nextNumber: 1 });

/** Runs a command on the state, which it changes; returns the status and reason of the response. */
export function run(state: State, command: Command): string {
  switch (command.do) {
    case 'take in':
      return takeIn(state, command.sales);
    case 'refund order':
      return refundOrder(state, command);
    case 'refund':
      return refundRow(state, command);
    case 'reverse':
      return reverse(state, command.refund);
    case 'minimum':
      state.minimum = command.minimum;
      return '200';
    case 'create':
      return create(state);
    case 'complete':
      return complete(state, command.payout, command.affiliates);
    case 'delete':
      return deletePayout(state, command.payout);
    default:
      return changeRow(state, command.row, command.do);
  }
}

const isPaid = (state: State, { payout }: { payout: number | null }) =>
  state.payouts.some(({ number, paid }) => number === payout && paid);

function takeIn(state: State, sales: readonly Sale[]): string {
  const born = sales
    .filter(({ name }) => !state.rows.some((row) => row.name === name))
    .map((sale): Row => ({ ...sale, ...fresh, owed: sale.amount, took: [] }));
  state.rows.push(...born);
  for (const refund of state.refunds.filter(({ reversed }) => !reversed)) {
    const open = refund.lines.filter(({ isOpen }) => isOpen);
    const named = new Set(open.map(({ commission }) => commission));
    for (const line of open) {
      const matched = born.filter(
        (row) =>
          row.order === refund.order &&
          concerns(line, row) &&
          (line.commission !== null || !named.has(row.name)),
      );
      if (matched.length > 0) settle(state, refund.name, line, matched);
    }
  }
  return sales.length === 1 ? (born.length === 1 ? '201' : '200') : '200';
}

const fresh = { refunded: 0, payout: null, voided: false, held: false, isClawback: false };

const concerns = (line: StoredLine, row: Row) =>
  !row.isClawback &&
  (line.boundLine === null || line.boundLine === row.line) &&
  (line.commission === null || line.commission === row.name);

const saleOf = (row: Row) => (row.line === null ? `own ${row.name}` : `line ${row.line}`);

function inDoubt(line: StoredLine, rows: readonly Row[]): boolean {
  if (line.amount === null && line.sale === null) return false;
  const currencies = new Set(rows.map(({ currency }) => currency));
  if (line.currency !== null) currencies.add(line.currency);
  const sales = new Set(rows.map(saleOf));
  return (line.amount !== null && rows.length > 1) || sales.size > 1 || currencies.size > 1;
}

/** Applies a line to its rows; false when it is ambiguous. */
function settle(state: State, refund: string, line: StoredLine, rows: readonly Row[]): boolean {
  if (inDoubt(line, rows)) {
    line.status = 'in_doubt';
    line.isOpen = false;
    return false;
  }
  line.status = 'applied';
  if (line.amount === null && line.sale === null) line.isOpen = line.commission === null;
  else {
    line.boundLine = rows[0]?.line ?? null;
    line.currency = rows[0]?.currency ?? null;
    line.isOpen = line.amount === null && line.commission === null && line.boundLine !== null;
  }
  for (const row of [...rows]) {
    const spent = row.refunded === row.amount;
    const rest = line.amount === null && line.sale === null;
    if (spent ? rest : row.voided) continue;
    takeOf(state, refund, row, line);
  }
  return true;
}

const round = (n: number, by: number, of: number) =>
  Number((2n * BigInt(n) * BigInt(by) + BigInt(of)) / (2n * BigInt(of)));

function shareOf(
  state: State,
  row: Row,
  what: Line,
): { amount: number; sale: number | null; capped: boolean } {
  const left = row.amount - row.refunded;
  const live = row.took.filter(
    ({ refund }) => !state.refunds.some((each) => each.name === refund && each.reversed),
  );
  const soldBack = live.reduce((sum, { sale }) => sum + (sale ?? 0), 0);
  if (what.amount !== null) {
    return { amount: Math.min(what.amount, left), sale: null, capped: what.amount > left };
  }
  if (what.sale === null) return { amount: left, sale: Math.max(row.sale - soldBack, 0), capped: false };
  const asCommission = live.reduce((sum, { sale, amount }) => sum + (sale === null ? amount : 0), 0);
  const inAll = soldBack + what.sale;
  const due = round(row.amount, Math.min(inAll, row.sale), row.sale) + asCommission;
  return {
    amount: Math.max(Math.min(due, row.amount) - row.refunded, 0),
    sale: what.sale,
    capped: inAll > row.sale || due > row.amount,
  };
}

function takeOf(state: State, refund: string, row: Row, what: Line): void {
  const { amount, sale, capped } = shareOf(state, row, what);
  const paid = isPaid(state, row);
  const voids = !paid && amount > 0 && amount === row.owed;
  const took: Took = { refund, amount, sale, capped, clawback: null, wasHeld: voids && row.held };
  row.took.push(took);
  row.refunded += amount;
  if (amount === 0) return;
  if (paid) {
    const clawback: Row = {
      ...row,
      ...fresh,
      name: `clawback:${refund}:${row.name}`,
      amount: -amount,
      owed: -amount,
      holdEnds: -1,
      isClawback: true,
      took: [],
    };
    took.clawback = clawback;
    state.rows.push(clawback);
  } else if (voids) voidRow(state, row);
  else {
    row.owed -= amount;
    follow(state, row.payout, row);
  }
}

function voidRow(state: State, row: Row): void {
  const { payout } = row;
  Object.assign(row, { voided: true, held: false, payout: null });
  follow(state, payout, row);
}

const sameGroup = (a: Row, b: Row) => a.affiliate === b.affiliate && a.currency === b.currency;

/** A group of the unpaid payout with nothing left leaves whole; an empty payout is deleted. */
function follow(state: State, number: number | null, row: Row): void {
  if (number === null || isPaid(state, { payout: number })) return;
  const group = state.rows.filter((each) => each.payout === number && sameGroup(each, row));
  if (group.reduce((sum, { owed }) => sum + owed, 0) <= 0) for (const each of group) each.payout = null;
  if (!state.rows.some(({ payout }) => payout === number)) {
    state.payouts = state.payouts.filter((payout) => payout.number !== number);
  }
}

function refundOrder(state: State, command: Command & { readonly do: 'refund order' }): string {
  const { name, order } = command;
  const rows = state.rows.filter((row) => row.order === order && !row.isClawback);
  const before = structuredClone(state);
  const refund: Refund = {
    ...{ name, order, reversed: false },
    lines: command.lines.map((line) => ({
      ...line,
      ...{ status: 'waiting', boundLine: line.line, currency: null, isOpen: true },
    })),
  };
  const fail = (answer: string) => {
    Object.assign(state, before);
    return answer;
  };
  for (const { commission } of refund.lines) {
    if (commission !== null && state.rows.some((row) => row.name === commission && row.order !== order)) {
      return '400 invalid_body';
    }
  }
  if (
    refund.lines.some((line) =>
      inDoubt(
        line,
        rows.filter((row) => concerns(line, row)),
      ),
    )
  ) {
    return '400 invalid_amount';
  }
  const taken = refund.lines.flatMap((line) => rows.filter((row) => concerns(line, row)));
  if (new Set(taken).size < taken.length) return '400 duplicate_entry';
  state.refunds.push(refund);
  for (const line of refund.lines) {
    const matched = rows.filter((row) => concerns(line, row));
    const tooMuch = matched.some(
      (row) => (!row.voided || row.refunded === row.amount) && (line.amount ?? 0) > row.amount - row.refunded,
    );
    if (tooMuch) return fail('400 refund_exceeds_rest');
    if (matched.length > 0) settle(state, name, line, matched);
  }
  return '201';
}

function refundRow(state: State, command: Command & { readonly do: 'refund' }): string {
  const row = state.rows.find(({ name }) => name === command.row);
  if (!row) return '404 resource_missing';
  if (row.isClawback) return '409 wrong_commission_type';
  const { what } = command;
  const spent = row.refunded === row.amount;
  if (row.voided && !(spent && what.sale !== null)) return '409 commission_is_voided';
  const left = row.amount - row.refunded;
  if (what.sale === null && (what.amount === null ? left === 0 : what.amount > left)) {
    return '400 refund_exceeds_rest';
  }
  state.refunds.push({ name: command.name, order: null, lines: [], reversed: false });
  takeOf(state, command.name, row, what);
  return '201';
}

function reverse(state: State, name: string): string {
  const refund = state.refunds.find((each) => each.name === name);
  if (!refund) return '404 resource_missing';
  if (refund.reversed) return '409 refund_is_reversed';
  const hit = state.rows.flatMap((row) =>
    row.took.filter((took) => took.refund === name && took.amount > 0).map((took) => ({ row, took })),
  );
  if (hit.some(({ row, took }) => isPaid(state, took.clawback ?? row))) return '409 refund_is_settled';
  for (const { row, took } of hit) {
    const byRefunds = row.voided && row.refunded === row.amount;
    row.refunded -= took.amount;
    if (took.clawback) {
      voidRow(state, took.clawback);
      continue;
    }
    row.owed = row.amount - row.refunded;
    if (!byRefunds) continue;
    row.voided = false;
    row.held = row.took.some(({ wasHeld }) => wasHeld);
  }
  refund.reversed = true;
  for (const line of refund.lines) line.isOpen = false;
  return '200';
}

function changeRow(state: State, name: string, what: 'void' | 'hold' | 'end hold'): string {
  const row = state.rows.find((each) => each.name === name);
  if (!row) return '404 resource_missing';
  if (what === 'end hold') {
    Object.assign(row, { holdEnds: -1 });
    return '200';
  }
  if (row.isClawback) return '409 wrong_commission_type';
  if (row.voided) return '409 commission_is_voided';
  if (isPaid(state, row)) return '409 commission_is_paid';
  if (what === 'hold' && row.held) return '409 commission_is_held';
  if (what === 'void') voidRow(state, row);
  else {
    const { payout } = row;
    Object.assign(row, { held: true, payout: null });
    follow(state, payout, row);
  }
  return '200';
}

function create(state: State): string {
  if (state.payouts.some(({ paid }) => !paid)) return '409 current_payout_exists';
  const open = state.rows.filter(
    (row) => row.payout === null && !row.voided && !row.held && row.holdEnds < 0,
  );
  const taken = open.filter((row) => {
    const sum = open.filter((each) => sameGroup(each, row)).reduce((all, { owed }) => all + owed, 0);
    return sum > 0 && (row.currency !== 'usd' || sum >= state.minimum);
  });
  if (taken.length === 0) return '409 nothing_to_pay';
  const number = state.nextNumber++;
  for (const row of taken) row.payout = number;
  state.payouts.push({ number, paid: false });
  return '201';
}

/** The affiliates who have a line in a payout. */
export const affiliatesIn = (state: State, number: number): number[] => [
  ...new Set(state.rows.filter(({ payout }) => payout === number).map(({ affiliate }) => affiliate)),
];

function complete(state: State, number: number, affiliates: readonly number[]): string {
  const payout = state.payouts.find((each) => each.number === number);
  if (!payout) return '404 resource_missing';
  if (payout.paid) return '409 payout_is_paid';
  const inside = affiliatesIn(state, number);
  if (affiliates.some((affiliate) => !inside.includes(affiliate))) return '400 affiliate_not_in_payout';
  payout.paid = true;
  return '200';
}

function deletePayout(state: State, number: number): string {
  const payout = state.payouts.find((each) => each.number === number);
  if (!payout) return '404 resource_missing';
  if (payout.paid) return '409 payout_is_paid';
  for (const row of state.rows) if (row.payout === number) row.payout = null;
  state.payouts = state.payouts.filter((each) => each !== payout);
  return '204';
}
