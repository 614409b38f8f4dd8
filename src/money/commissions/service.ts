import { defaults, normalised } from '../../contract/fields.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { Failure, fail, failItems } from '../../kernel/errors.ts';
import { type AccountId, numberIdOf, uuidOf } from '../../kernel/ids.ts';
import { arrayOf, extended, fromJson, type Json, toJson } from '../../kernel/json.ts';
import { MAX_AMOUNT, multiplyRounded } from '../../kernel/money.ts';
import { publish } from '../../outbox/queue.ts';
import { getAccount } from '../../people/accounts/service.ts';
import { lockBooks } from '../ledger/books.ts';
import {
  beginLocked,
  beyondLimit,
  beyondLimitRule,
  linesBeyondLimit,
  lockBalances,
  MOST_UNLOCKED,
} from '../ledger/limit.ts';
import {
  type AffiliateReference,
  missingAffiliates,
  namesGiven,
  referenceRule,
  withAffiliateIds,
} from '../ledger/references.ts';
import { ordersOf } from '../refund-lines/locks.ts';
import { COMMISSION_FIELDS } from './fields.ts';
import { readCommission } from './list.ts';
import type {
  BatchItem,
  Commission,
  CommissionBatch,
  ImportedCommissions,
  NewAdjustment,
  NewCommission,
} from './record.ts';
import {
  contradictions,
  insertAndName,
  insertCommissions,
  itemSource,
  recordsOf,
  sumsOf,
  unknownReferences,
} from './store.ts';

interface Line extends AffiliateReference {
  readonly line: number;
  readonly [column: string]: unknown;
}

const DEFAULTS = defaults(COMMISSION_FIELDS);

/** Commission in minor units from a sale and a rate in basis points, rounded half up, in integers. */
export function commissionOf(saleAmount: bigint, rateBps: bigint): bigint {
  return multiplyRounded(saleAmount, rateBps, 10_000n);
}

/** The account's default currency, used for commissions without one. */
export async function defaultCurrency(db: Reader, account: AccountId): Promise<string> {
  return fromJson(await getAccount(db, account)).default_currency;
}

/** The input as it is stored. Throws `invalid_body`, `invalid_amount`. */
function readInput(input: NewCommission, line: number, fallback: string): Line {
  const broken = referenceRule(input);
  if (broken !== null) throw fail('invalid_body', broken);
  const given = normalised(COMMISSION_FIELDS, input);
  return { ...DEFAULTS, currency: fallback, ...given, line, amount: Number(amountOf(input)) };
}

function amountOf(input: NewCommission): bigint {
  let amount: bigint;
  if (input.amount !== undefined) amount = BigInt(input.amount);
  // a sale too small for one minor unit is accepted: shops do not check for rounding
  else if (typeof input.sale_amount === 'number' && typeof input.rate_bps === 'number') {
    amount = commissionOf(BigInt(input.sale_amount), BigInt(input.rate_bps));
  } else throw fail('invalid_amount', 'amount is required, or sale_amount with rate_bps');
  if (amount < 0n || amount > MAX_AMOUNT) {
    throw fail('invalid_amount', `amount must be from 0 to ${MAX_AMOUNT} minor units, it is ${amount}`);
  }
  return amount;
}

/**
 * Creates a commission. The same input again returns the stored record with `isNew` false. Throws
 * `duplicate_external_id` for different input, `unknown_affiliate`, `unknown_program`, `invalid_amount`,
 * `amount_too_large` for the balance.
 */
export async function createCommission(
  tx: Tx,
  account: AccountId,
  input: NewCommission,
): Promise<{ json: Json<Commission>; isNew: boolean }> {
  const line = readInput(input, 0, await defaultCurrency(tx, account));
  return takeIn(tx, account, input, line);
}

/**
 * Credits (positive) or debits (negative) an affiliate manually; included in the next payout without a hold. Throws
 * `resource_missing` for the affiliate, otherwise as `createCommission`.
 */
export async function createAdjustment(
  tx: Tx,
  account: AccountId,
  affiliateId: string,
  input: NewAdjustment,
): Promise<{ json: Json<Commission>; isNew: boolean }> {
  const id = numberIdOf(affiliateId);
  if (id === null) throw fail('resource_missing', 'no such affiliate');
  await lockBooks(tx, account);
  if ((await missingAffiliates(tx, account, [id])).length > 0)
    throw fail('resource_missing', 'no such affiliate');
  if (input.amount === 0) throw fail('invalid_amount', 'amount must not be zero');
  const line = readInput({ ...input, affiliate_id: id, amount: 1 }, 0, await defaultCurrency(tx, account));
  const adjustment = { ...line, type: 'adjustment', amount: input.amount };
  return takeIn(tx, account, { ...input, affiliate_id: id }, adjustment);
}

async function takeIn(
  tx: Tx,
  account: AccountId,
  input: NewCommission,
  given: Line,
): Promise<{ json: Json<Commission>; isNew: boolean }> {
  const [line = given] = await withAffiliateIds(tx, account, [given]);
  const source = itemSource([line]);
  const [unknown] = await unknownReferences(tx, account, source);
  const [beyond] = unknown ? [] : await linesBeyondLimit(tx, account, source);
  if (beyond) throw beyondLimit(beyond);
  const isNew =
    !unknown && (await insertCommissions(tx, account, source, { orders: ordersOf([line]) })) === 1;
  if (!isNew && (await contradictions(tx, account, source)).length > 0) {
    throw contradiction(input.external_id);
  }
  if (unknown) throw unknownReference(unknown.what, input);
  const [{ json, affiliate_id, is_near_limit: isNear } = missingRecord()] = await recordsOf(
    tx,
    account,
    source,
  );
  if (isNew && isNear) beginLocked(tx, account, [affiliate_id]);
  if (isNew) await publish(tx, { account, type: 'commission.created', data: json });
  return { json, isNew };
}

function unknownReference(what: 'affiliate' | 'program', input: NewCommission): Failure {
  if (what === 'program') return fail('unknown_program', `program_id ${input.program_id} does not exist`);
  const [name = 'affiliate_id'] = namesGiven(input);
  const value = input[name];
  const shown = typeof value === 'string' ? quote(value) : value;
  return fail('unknown_affiliate', `${name} ${shown} does not exist`);
}

const contradiction = (externalId: string): Failure =>
  fail(
    'duplicate_external_id',
    `external_id ${externalId} exists with different content; a commission cannot be changed once created`,
  );

/**
 * Creates up to 1,000 commissions: all or nothing, or with `partial` each by itself. The response has one item per
 * input, in order: `{index, status, commission}` or `{index, status, error}`. Throws `invalid_items` naming the bad
 * ones unless `partial`.
 */
export async function createBatch(
  tx: Tx,
  account: AccountId,
  inputs: readonly NewCommission[],
  partial: boolean,
): Promise<Json<CommissionBatch>> {
  const fallback = await defaultCurrency(tx, account);
  const refusals = new Map<number, Failure>();
  let good: Line[] = [];
  inputs.forEach((input, index) => {
    try {
      good.push(readInput(input, index, fallback));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refusals.set(index, error);
    }
  });
  const drop = (found: readonly { line: number; refusal: Failure }[]) => {
    for (const { line, refusal } of found) refusals.set(line, refusal);
    good = good.filter(({ line }) => !refusals.has(line));
  };
  good = await withAffiliateIds(tx, account, good);
  const inputAt = (line: number) => inputs[line] as NewCommission;
  const unknown = await unknownReferences(tx, account, itemSource(good));
  drop(unknown.map(({ line, what }) => ({ line, refusal: unknownReference(what, inputAt(line)) })));
  if (!partial) refuseItems(refusals, inputs.length);
  await lockBalances(tx, account, addingMuch(good));
  const beyond = await linesBeyondLimit(tx, account, itemSource(good));
  drop(
    beyond.map((found) => ({
      line: found.line,
      refusal: fail('amount_too_large', beyondLimitRule(found)),
    })),
  );
  if (!partial) refuseItems(refusals, inputs.length);

  const created = await insertAndName(tx, account, itemSource(good), ordersOf(good));
  const other = await contradictions(tx, account, itemSource(good));
  drop(other.map((line) => ({ line, refusal: contradiction(inputAt(line).external_id) })));
  if (!partial) refuseItems(refusals, inputs.length);
  if (created.size > 0) {
    const { json: totals } = await sumsOf(
      tx,
      itemSource(firstOfEach(good.filter((line) => created.has(String(line.external_id))))),
    );
    const data = imported({ source: 'batch', created: created.size }, totals);
    await publish(tx, { account, type: 'commissions.imported', data });
  }
  const stored = await recordsOf(tx, account, itemSource(good));
  if (created.size > 0) {
    const near = stored.filter(({ is_near_limit: isNear }) => isNear);
    beginLocked(
      tx,
      account,
      near.map(({ affiliate_id: id }) => id),
    );
  }
  return batchAnswer(inputs, stored, refusals, created);
}

/** The affiliates whose balances are locked before so much is added to them. */
function addingMuch(lines: readonly Line[]): bigint[] {
  const sums = new Map<string, bigint>();
  const much = new Set<bigint>();
  for (const { affiliate_id: id, currency, amount } of lines) {
    const pair = `${id} ${currency}`;
    const sum = (sums.get(pair) ?? 0n) + BigInt(amount as number);
    sums.set(pair, sum);
    if (sum > MOST_UNLOCKED) much.add(BigInt(id as number));
  }
  return [...much];
}

/** The data of the event for commissions that were created together. */
export function imported(
  head: Omit<ImportedCommissions, 'object' | 'totals'>,
  totals: Json<ImportedCommissions['totals']>,
): Json<ImportedCommissions> {
  const json: Json<Omit<ImportedCommissions, 'totals'>> = toJson({ object: 'commission_import', ...head });
  return extended(json, { totals });
}

function missingRecord(): never {
  throw new Error('a commission that was stored is not there');
}

function firstOfEach(lines: readonly Line[]): Line[] {
  const byId = new Map<unknown, Line>();
  for (const line of lines) if (!byId.has(line.external_id)) byId.set(line.external_id, line);
  return [...byId.values()];
}

function refuseItems(refusals: ReadonlyMap<number, Failure>, count: number): void {
  if (refusals.size === 0) return;
  const inOrder = [...refusals].sort(([a], [b]) => a - b);
  throw failItems(
    inOrder.map(([index, { message }]) => `commissions[${index}]: ${message}`),
    count,
  );
}

function batchAnswer(
  inputs: readonly NewCommission[],
  stored: readonly { line: number; json: Json<Commission> }[],
  refusals: ReadonlyMap<number, Failure>,
  created: ReadonlySet<string>,
): Json<CommissionBatch> {
  const records = new Map(stored.map(({ line, json }) => [line, json]));
  const answered = new Set<string>();
  const items = inputs.map((input, index): Json<BatchItem> => {
    const refusal = refusals.get(index);
    if (refusal) {
      const { status, code, reason, message } = refusal;
      return toJson({ index, status, error: { code, reason, message } });
    }
    const status = created.has(input.external_id) && !answered.has(input.external_id) ? 201 : 200;
    answered.add(input.external_id);
    const commission = records.get(index) ?? missingRecord();
    return extended(toJson<Pick<BatchItem, 'index' | 'status'>>({ index, status }), { commission });
  });
  return extended(toJson<Pick<CommissionBatch, 'object'>>({ object: 'commission_batch' }), {
    items: arrayOf(items),
  });
}

/** One commission. Throws `resource_missing`. */
export async function getCommission(db: Reader, account: AccountId, id: string): Promise<Json<Commission>> {
  const uuid = uuidOf('com', id);
  const json = uuid === null ? null : await readCommission(db, account, uuid);
  if (json === null) throw fail('resource_missing', 'no such commission');
  return json;
}
