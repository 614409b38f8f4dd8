import type { Client } from '../../client/client.ts';
import { formatDecimal } from '../../kernel/money.ts';
import type { Dice } from './dice.ts';
import type { Person } from './people.ts';
import { midnight, PROGRAMS, type Sale } from './sales.ts';
import type { Stages } from './stages.ts';

/** The inputs of the demo. */
export interface Demo {
  readonly client: Client;
  readonly stages: Stages;
  readonly dice: Dice;
}

/** The created affiliates, and the id of each unpaid commission. */
export interface Taken {
  readonly affiliates: ReadonlyMap<Person, number>;
  readonly commissions: readonly { readonly sale: Sale; readonly id: string }[];
}

const AT_ONCE = 8;
const BATCH = 1000;
const MINIMUMS = { usd: 5000, eur: 5000, gbp: 4500, jpy: 5000 };

/** Sets up the account and creates its affiliates. */
export async function takeAffiliates(
  { client, stages }: Demo,
  people: readonly Person[],
): Promise<Taken['affiliates']> {
  await client.account.change({ minimum_payout: MINIMUMS });
  const ids = new Map<Person, number>();
  const create = async (person: Person) => ids.set(person, (await client.affiliates.create(person.input)).id);
  await stages.each('affiliates', people, create, AT_ONCE);
  // later steps depend on the order
  return new Map(people.map((person) => [person, ids.get(person) ?? 0]));
}

/** Creates the programs and commissions. Those that were paid in earlier months come from a file, with their payouts. */
export async function takeCommissions(
  { client, stages, dice }: Demo,
  affiliates: Taken['affiliates'],
  sales: readonly Sale[],
): Promise<Taken> {
  const programs: number[] = [];
  for (const program of PROGRAMS) programs.push((await client.programs.create(program)).id);
  const [paid, unpaid] = [true, false].map((is) =>
    sales.filter((sale) => (sale.paidDaysAgo !== null) === is),
  );
  await stages.each('paid commissions', [paid ?? []], (lines) =>
    client.imports.create(historyFile(dice, programs, lines), {
      kind: 'commissions',
      mapping: JSON.stringify(Object.fromEntries(HISTORY_COLUMNS.map((name) => [name, name]))),
      decimal: 'point',
      dates: 'iso',
      paid: 'import',
      file_name: 'earlier-months.csv',
    }),
  );
  const commissions: { sale: Sale; id: string }[] = [];
  const batches = Array.from({ length: Math.ceil((unpaid ?? []).length / BATCH) }, (_, index) =>
    (unpaid ?? []).slice(index * BATCH, (index + 1) * BATCH),
  );
  await stages.each('commissions (1,000s)', batches, async (batch) => {
    const { items } = await client.commissions.createMany(
      batch.map(({ person, program, input }) => ({
        ...input,
        affiliate_id: affiliates.get(person) ?? 0,
        program_id: programs[program],
      })),
    );
    for (const { index, commission } of items) {
      commissions.push({ sale: batch[index]!, id: commission?.id ?? '' });
    }
  });
  return { affiliates, commissions };
}

const HISTORY_COLUMNS = [
  'external_id',
  'affiliate_external_id',
  'program_id',
  'type',
  'currency',
  'amount',
  'sale_amount',
  'rate_bps',
  'order_id',
  'customer_email',
  'product_id',
  'product_name',
  'description',
  'occurred_at',
  'paid_at',
  'payment_reference',
] as const;

/** The CSV file of commissions that were paid, with the payment of each. */
function historyFile(dice: Dice, programs: readonly number[], sales: readonly Sale[]): string {
  const references = new Map<string, string>();
  const referenceOf = ({ person, paidDaysAgo }: Sale) => {
    const payment = `${person.key} ${paidDaysAgo}`;
    const known = references.get(payment) ?? reference(dice, person.input.payout_method ?? null);
    references.set(payment, known);
    return known;
  };
  const lines = sales.map((sale) => {
    const { person, program, paidDaysAgo, input } = sale;
    const decimal = (amount: number | null | undefined) =>
      amount == null ? null : formatDecimal(BigInt(amount), input.currency ?? '');
    const values: Readonly<Record<string, unknown>> = {
      ...input,
      affiliate_external_id: person.key,
      program_id: programs[program],
      amount: decimal(input.amount),
      sale_amount: decimal(input.sale_amount),
      paid_at: new Date(midnight(paidDaysAgo ?? 0)).toISOString().slice(0, 10),
      payment_reference: referenceOf(sale),
    };
    return HISTORY_COLUMNS.map((name) => quoted(values[name])).join(',');
  });
  return `${HISTORY_COLUMNS.join(',')}\n${lines.join('\n')}\n`;
}

const quoted = (value: unknown) =>
  value === null || value === undefined ? '' : `"${String(value).replaceAll('"', '""')}"`;

/** The events before the payout: affiliates leave, orders are cancelled and returned, balances are adjusted. */
export async function correct({ client, stages, dice }: Demo, taken: Taken): Promise<void> {
  const affiliates = [...taken.affiliates];
  const recent = dice.shuffled(
    taken.commissions.filter(({ sale }) => isOrder(sale) && sale.daysAgo <= RECENT_DAYS),
  );
  const some = (count: number) => recent.splice(0, count);
  const changed = affiliates.filter(([{ later }]) => later !== null);
  const each = <Item>(what: string, items: readonly Item[], work: (item: Item) => Promise<unknown>) =>
    stages.each(what, items, work, AT_ONCE);
  await each('changed affiliates', changed, ([{ later }, id]) => client.affiliates.change(id, later ?? {}));
  const reasons = ['order cancelled', 'own purchase', 'payment failed'];
  await each('voids', withIndex(some(9)), ([{ id }, index]) =>
    client.commissions.void(id, { reason: reasons[index % reasons.length] }),
  );
  await each('reviews', some(6), ({ id }) => client.commissions.hold(id));
  await each('refunds in part', some(12), ({ id, sale }) =>
    client.commissions.refund(id, {
      external_id: `refund-${sale.input.external_id}`,
      sale_amount: Math.ceil((sale.input.sale_amount ?? 0) / 2),
      reason: 'half of it came back',
      occurred_at: somewhatLater(sale),
    }),
  );
  const refunded = some(10);
  await each('refunds', ordersOf(refunded), (order) =>
    refund(client, order, 'sent back', somewhatLater(saleOf(refunded, order))),
  );
  await each(
    'adjustments',
    withIndex(dice.shuffled(affiliates).slice(0, 6)),
    ([[{ key, currency }, id], index]) => {
      const [amount, description] =
        index % 2 === 0 ? [2500, 'Sale that was not tracked'] : [-1500, 'Coupon used twice'];
      const occurred_at = new Date(midnight(3 + index * 4)).toISOString();
      return client.affiliates.adjust(id, {
        external_id: `adjustment-${key}`,
        amount,
        currency,
        description,
        occurred_at,
      });
    },
  );
}

const RECENT_DAYS = 20;
const withIndex = <Item>(items: readonly Item[]) => items.map((item, index) => [item, index] as const);
const isOrder = ({ input }: Sale) => input.order_id?.startsWith('order-') ?? false;
const ordersOf = (commissions: readonly { readonly sale: Sale }[]) => [
  ...new Set(commissions.map(({ sale }) => sale.input.order_id ?? '')),
];
const saleOf = (commissions: Taken['commissions'], order: string) =>
  commissions.find(({ sale }) => sale.input.order_id === order)!.sale;
/** Between the sale and now. */
const somewhatLater = ({ daysAgo }: Sale) => new Date(midnight(Math.floor(daysAgo / 2))).toISOString();
const refund = (client: Client, order: string, reason: string, occurred_at: string) =>
  client.refunds.create({ external_id: `refund-${order}`, order_id: order, reason, occurred_at });

const before = (daysAgo: number) => ({
  occurred_at: { lt: new Date(midnight(daysAgo)).toISOString().slice(0, 10) },
});

/**
 * Pays a payout with one line released and one payment returned, deletes one, refunds paid commissions, and leaves one payout
 * unpaid. The paid payout can be exported for PayPal without options.
 */
export async function payOut(demo: Demo, taken: Taken, sales: readonly Sale[]): Promise<void> {
  const { client, stages } = demo;
  const steps = [
    () => payOnce(demo),
    async () => {
      const { id, revision } = await client.payouts.create({ filters: { ...before(20), currency: 'eur' } });
      await client.payouts.delete(id, { ifMatch: revision });
    },
    () => owe(demo, taken.affiliates, sales),
    () => client.payouts.create(),
    () => shrink(client),
  ];
  await stages.each('payouts', steps, (step) => step());
}

async function payOnce({ client, dice }: Demo): Promise<void> {
  const filters = { ...before(20), payout_method: 'paypal' as const, currency: 'usd' };
  const payout = await client.payouts.create({ filters });
  const lines = (payout.affiliates ?? []).toSorted((one, other) =>
    (one.email ?? '') < (other.email ?? '') ? -1 : 1,
  );
  const commissions = lines.map(({ affiliate_id, payout_method }, index) => {
    if (index === 1) return { affiliate_id, is_paid: false };
    return { affiliate_id, is_paid: true, payment_reference: reference(dice, payout_method) };
  });
  await client.payouts.complete(payout.id, { commissions, require_all: true }, { ifMatch: payout.revision });
  await client.payouts.returned(payout.id, lines[2]!.affiliate_id, {
    reason: 'The receiving account is closed',
    reference: `RET-${dice.between(100_000, 999_999)}`,
  });
}

/** A payment reference like those of banks and PayPal. */
function reference(dice: Dice, method: string | null): string {
  if (method !== 'paypal') return `${method === 'wise' ? 'TRF' : 'SEPA'}-${dice.between(1e8, 1e9 - 1)}`;
  const characters = 'ABCDEFGHJKLMNPRSTUVWXY0123456789'.split('');
  return Array.from({ length: 17 }, () => dice.pick(characters)).join('');
}

/** Refunds of commissions that were paid, and a negative adjustment larger than the earnings of its affiliate. */
async function owe(
  { client, dice }: Demo,
  affiliates: Taken['affiliates'],
  sales: readonly Sale[],
): Promise<void> {
  const paid = dice.shuffled(sales.filter((sale) => isOrder(sale) && sale.paidDaysAgo !== null)).slice(0, 15);
  const orders = new Map(paid.map((sale) => [sale.input.order_id ?? '', sale]));
  let daysAgo = 28;
  for (const order of orders.keys()) {
    await refund(client, order, 'chargeback', new Date(midnight(daysAgo)).toISOString());
    daysAgo -= 2;
  }
  const [person, id] = [...affiliates]
    .filter(([{ later, currency }]) => later === null && currency === 'usd')
    .sort(([one], [other]) => one.weight - other.weight)[0]!;
  await client.affiliates.adjust(id, {
    external_id: `advance-${person.key}`,
    amount: -500_000,
    currency: 'usd',
    description: 'Advance for a campaign',
  });
}

/** A refund after the payout was created, which raises its revision. */
async function shrink(client: Client): Promise<void> {
  const { data } = await client.payouts.commissions('current', { sort: 'id' });
  const sale = data.find(({ type, amount }) => type === 'sale' && amount >= 200);
  if (!sale) return;
  await client.commissions.refund(sale.id, {
    external_id: `refund-late-${sale.external_id}`,
    amount: Math.floor(sale.amount / 2),
    reason: 'one piece was broken',
  });
}
