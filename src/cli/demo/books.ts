import type { Client } from '../../client/client.ts';
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

/** The created affiliates, and the id of each commission. */
export interface Taken {
  readonly affiliates: ReadonlyMap<Person, number>;
  readonly commissions: readonly { readonly sale: Sale; readonly id: string }[];
}

const BATCH = 1000;
const MINIMUMS = { usd: 5000, eur: 5000, gbp: 4500, jpy: 5000 };

/** Sets up the account and creates its affiliates. */
export async function takeAffiliates(
  { client, stages }: Demo,
  people: readonly Person[],
): Promise<Taken['affiliates']> {
  await client.account.change({ minimum_payout: MINIMUMS });
  const affiliates = new Map<Person, number>();
  const create = async (person: Person) =>
    affiliates.set(person, (await client.affiliates.create(person.input)).id);
  // one after another, because later steps depend on the order of their ids
  await stages.each('affiliates', people, create);
  return affiliates;
}

/** Creates the programs and commissions. */
export async function takeCommissions(
  { client, stages }: Demo,
  affiliates: Taken['affiliates'],
  sales: readonly Sale[],
): Promise<Taken> {
  const programs: number[] = [];
  for (const program of PROGRAMS) programs.push((await client.programs.create(program)).id);
  const commissions: { sale: Sale; id: string }[] = [];
  const batches = Array.from({ length: Math.ceil(sales.length / BATCH) }, (_, index) =>
    sales.slice(index * BATCH, (index + 1) * BATCH),
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

/** The events before the first payout: affiliates leave, orders are cancelled and returned, balances are adjusted. */
export async function correct({ client, stages, dice }: Demo, taken: Taken): Promise<void> {
  const affiliates = [...taken.affiliates];
  const recent = dice.shuffled(
    taken.commissions.filter(({ sale }) => isOrder(sale) && sale.daysAgo <= RECENT_DAYS),
  );
  const some = (count: number) => recent.splice(0, count);
  const changed = affiliates.filter(([{ later }]) => later !== null);
  await stages.each('changed affiliates', changed, ([{ later }, id]) =>
    client.affiliates.change(id, later ?? {}),
  );
  await stages.each('voids', some(9), ({ id }) =>
    client.commissions.void(id, {
      reason: dice.pick(['order cancelled', 'own purchase', 'payment failed']),
    }),
  );
  await stages.each('reviews', some(6), ({ id }) => client.commissions.hold(id));
  await stages.each('refunds in part', some(12), ({ id, sale: { input } }) =>
    client.commissions.refund(id, {
      external_id: `refund-${input.external_id}`,
      sale_amount: Math.ceil((input.sale_amount ?? 0) / 2),
      reason: 'half of it came back',
    }),
  );
  await stages.each('refunds', ordersOf(some(10)), (order) => refund(client, order, 'sent back'));
  await stages.each('adjustments', dice.shuffled(affiliates).slice(0, 6), ([{ key, currency }, id]) => {
    const [amount, description] = dice.pick([
      [2500, 'Sale that was not tracked'],
      [-1500, 'Coupon used twice'],
    ] as const);
    return client.affiliates.adjust(id, { external_id: `adjustment-${key}`, amount, currency, description });
  });
}

const RECENT_DAYS = 20;
const isOrder = ({ input }: Sale) => input.order_id?.startsWith('order-') ?? false;
const ordersOf = (commissions: Taken['commissions']) => [
  ...new Set(commissions.map(({ sale }) => sale.input.order_id ?? '')),
];
const refund = (client: Client, order: string, reason: string) =>
  client.refunds.create({ external_id: `refund-${order}`, order_id: order, reason });

interface PayoutStep {
  readonly filters: Readonly<Record<string, unknown>>;
  readonly isDeleted?: true;
  /** One affiliate is not paid. */
  readonly releases?: true;
  /** The payment of one affiliate is returned. */
  readonly returns?: true;
}

const before = (daysAgo: number) => ({
  occurred_at: { lt: new Date(midnight(daysAgo)).toISOString().slice(0, 10) },
});

/** The first payout can be exported for PayPal without options. */
const payoutSteps = (): readonly PayoutStep[] => [
  { filters: { ...before(80), payout_method: 'paypal', currency: 'usd' } },
  { filters: before(70), releases: true },
  { filters: before(50), returns: true },
  { filters: { ...before(30), currency: 'eur' }, isDeleted: true },
  { filters: before(30) },
];

/** Creates and completes payouts, refunds paid commissions, and leaves one payout unpaid. */
export async function payOut(demo: Demo, taken: Taken): Promise<void> {
  const { client, stages } = demo;
  await stages.each('payouts', payoutSteps(), (step) => payOnce(demo, step));
  await owe(demo, taken);
  await client.payouts.create();
  await shrink(client);
}

async function payOnce({ client, dice }: Demo, step: PayoutStep): Promise<void> {
  const payout = await client.payouts.create({ filters: step.filters });
  const ifMatch = payout.revision;
  if (step.isDeleted) return client.payouts.delete(payout.id, { ifMatch });
  const lines = payout.affiliates ?? [];
  const commissions = lines.map(({ affiliate_id, payout_method }, index) => {
    if (step.releases && index === 1) return { affiliate_id, is_paid: false };
    return { affiliate_id, is_paid: true, payment_reference: reference(dice, payout_method) };
  });
  await client.payouts.complete(payout.id, { commissions, require_all: true }, { ifMatch });
  const returned = step.returns && lines[2];
  if (!returned) return;
  await client.payouts.returned(payout.id, returned.affiliate_id, {
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

/** Refunds of paid commissions, and a negative adjustment larger than the earnings of its affiliate. */
async function owe({ client, stages, dice }: Demo, { affiliates, commissions }: Taken): Promise<void> {
  const old = commissions.filter(({ sale }) => isOrder(sale) && sale.daysAgo > 2 * RECENT_DAYS);
  const orders = ordersOf(dice.shuffled(old).slice(0, 15));
  await stages.each('chargebacks', orders, (order) => refund(client, order, 'chargeback'));
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
