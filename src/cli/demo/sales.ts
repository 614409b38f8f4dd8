import type { CommissionInputFields, CreateProgramBody } from '../../client/client.ts';
import type { Dice } from './dice.ts';
import type { Currency, Person } from './people.ts';

/** The number of days before today that the demo covers. */
const DAYS = 190;
/** How many days ago each past payout was paid. */
const PAID_DAYS = [158, 126, 97, 65, 34] as const;

export const PROGRAMS: readonly CreateProgramBody[] = [
  { name: 'Storefront', hold_days: 14 },
  { name: 'Subscriptions', hold_days: 30 },
  { name: 'Launch partners', hold_days: 0 },
];
const STOREFRONT = 0;
const SUBSCRIPTIONS = 1;
const LAUNCH = 2;

interface Product {
  readonly id: string;
  readonly name: string;
  /** Cents of a dollar. */
  readonly price: number;
}

const PRODUCTS: readonly Product[] = [
  { id: 'kettle-classic', name: 'Gooseneck kettle', price: 7900 },
  { id: 'grinder-mk2', name: 'Hand grinder MK2', price: 14_900 },
  { id: 'scale-pocket', name: 'Pocket scale, 0.1 g', price: 3900 },
  { id: 'beans-guji', name: 'Guji, washed – 1 kg', price: 3450 },
  { id: 'beans-huila', name: 'Huila “La Esperanza” – 250 g', price: 1590 },
  { id: 'filters-100', name: 'Paper filters, 100', price: 890 },
  { id: 'cups-pair', name: 'Crème cups, pair', price: 4200 },
  { id: 'machine-uno', name: 'Espresso machine “Uno”', price: 89_900 },
];
const PLANS: readonly Product[] = [
  { id: 'club-monthly', name: 'Coffee club, monthly', price: 2900 },
  { id: 'club-office', name: 'Office club, monthly', price: 11_900 },
];

const CUSTOMERS_FIRST =
  'ada ben carla dev elif finn gita hugo ines jack kaya leo mina nils olga paul quinn rosa sven tara'.split(
    ' ',
  );
const CUSTOMERS_LAST = 'abbott baker chen diaz evans fischer gupta haas ito jones klein lopez moreau'.split(
  ' ',
);

/** A commission of the demo. */
export interface Sale {
  readonly person: Person;
  /** Index in PROGRAMS. */
  readonly program: number;
  /** Whole days before today. */
  readonly daysAgo: number;
  /** How many days ago it was paid; null = not yet. */
  readonly paidDaysAgo: number | null;
  readonly input: Omit<CommissionInputFields, 'affiliate_id' | 'program_id'>;
}

/** The commissions of one moment: an order with a line or two, a month of a subscription, or a bonus. */
interface Draft {
  readonly person: Person;
  readonly program: number;
  readonly minutesAgo: number;
  /** null = the next order number. */
  readonly key: string | null;
  readonly lines: readonly Omit<Sale['input'], 'external_id' | 'occurred_at'>[];
}

const DAY_MINUTES = 24 * 60;
const DAY_MS = DAY_MINUTES * 60_000;
/** Read once, so that a demo that runs past midnight uses one day. */
const TODAY = Math.floor(Date.now() / DAY_MS);

/** Midnight (UTC) of the day `days` before today, in milliseconds since 1970. */
export const midnight = (daysAgo: number): number => (TODAY - daysAgo) * DAY_MS;

/** Moves sales whose hold would end today to the day before, so that the sums stay the same all day. */
function offHoldBefore(draft: Draft): Draft {
  const hold = (PROGRAMS[draft.program]?.hold_days ?? 0) * DAY_MINUTES;
  const endsToday = hold > 0 && draft.minutesAgo <= hold && draft.minutesAgo > hold - DAY_MINUTES;
  return endsToday ? { ...draft, minutesAgo: draft.minutesAgo + DAY_MINUTES } : draft;
}

/**
 * This many commissions of the last 190 days, oldest first: a growing number of orders, monthly subscriptions, and an
 * occasional bonus. All are from before today.
 */
export function demoSales(dice: Dice, people: readonly Person[], total: number): Sale[] {
  const drafts = [...subscriptions(dice, people), ...bonuses(dice, people)];
  let count = drafts.length;
  while (count < total) {
    const made = order(dice, people);
    drafts.push(made);
    count += made.lines.length;
  }
  const settled = drafts.map(offHoldBefore).sort((one, other) => other.minutesAgo - one.minutesAgo);
  const today = midnight(0);
  let orders = 10_000;
  return settled
    .flatMap(({ person, program, minutesAgo, key, lines }) => {
      orders += key === null ? 1 : 0;
      const name = key ?? `order-${orders}`;
      const daysAgo = Math.ceil(minutesAgo / DAY_MINUTES);
      return lines.map((line, index) => ({
        person,
        program,
        daysAgo,
        paidDaysAgo: paidDaysAgo({ person, program, daysAgo }),
        input: {
          ...line,
          ...(line.type === 'bonus' ? {} : { order_id: name }),
          external_id: lines.length === 1 ? name : `${name}-${index + 1}`,
          occurred_at: new Date(today - minutesAgo * 60_000).toISOString(),
        },
      }));
    })
    .slice(-total);
}

/** The first past payout after the hold. Affiliates who left or are paused were not in the last two. */
function paidDaysAgo({ person, program, daysAgo }: Pick<Sale, 'person' | 'program' | 'daysAgo'>) {
  const days = person.later === null ? PAID_DAYS : PAID_DAYS.slice(0, -2);
  return days.find((paid) => daysAgo - (PROGRAMS[program]?.hold_days ?? 0) > paid) ?? null;
}

function order(dice: Dice, people: readonly Person[]): Draft {
  const person = seller(dice, people);
  const currency = dice.chance(0.06) ? 'usd' : person.currency;
  const program = dice.chance(0.2) ? LAUNCH : STOREFRONT;
  const rate = program === LAUNCH ? 2000 : dice.pick([800, 1000, 1000, 1200]);
  const customer = customerOf(dice);
  const basket = dice.chance(0.08) ? dice.shuffled(PRODUCTS).slice(0, 2) : [dice.pick(PRODUCTS)];
  return {
    person,
    program,
    // the larger of two draws: business grows
    minutesAgo: DAYS * DAY_MINUTES - Math.max(someMinutes(dice), someMinutes(dice)),
    key: null,
    lines: basket.map((product) => ({
      type: 'sale',
      ...saleOf(product, currency, { pieces: dice.pick([1, 1, 1, 2, 3]), rate }),
      customer_email: customer,
    })),
  };
}

const SUBSCRIBERS = 360;
const MONTH_DAYS = 30;

function subscriptions(dice: Dice, people: readonly Person[]): Draft[] {
  return Array.from({ length: SUBSCRIBERS }, (_, index) => {
    const person = seller(dice, people);
    const plan = dice.chance(0.85) ? PLANS[0]! : PLANS[1]!;
    const customer = customerOf(dice);
    const since = someMinutes(dice) + 1;
    const months = Math.ceil(since / DAY_MINUTES / MONTH_DAYS);
    return Array.from({ length: months }, (_month, month): Draft => {
      const type = month === 0 ? 'sale' : 'recurring';
      const sale = saleOf(plan, person.currency, { pieces: 1, rate: month === 0 ? 3000 : 1500 });
      return {
        person,
        program: SUBSCRIPTIONS,
        minutesAgo: since - month * MONTH_DAYS * DAY_MINUTES,
        key: `sub-${2001 + index}-${month + 1}`,
        lines: [{ type, ...sale, customer_email: customer }],
      };
    });
  }).flat();
}

const BONUSES = 40;

function bonuses(dice: Dice, people: readonly Person[]): Draft[] {
  return Array.from({ length: BONUSES }, (_, index) => {
    const person = seller(dice, people);
    const amount = inCurrency(dice.pick([1000, 2500, 5000, 10_000]), person.currency);
    const description = dice.pick(['Partner of the week', 'First ten sales', 'Video review']);
    return {
      person,
      program: LAUNCH,
      minutesAgo: someMinutes(dice) + 1,
      key: `bonus-${301 + index}`,
      lines: [{ type: 'bonus', amount, currency: person.currency, description }],
    };
  });
}

const seller = (dice: Dice, people: readonly Person[]) => dice.weighted(people, ({ weight }) => weight);
const someMinutes = (dice: Dice) => dice.between(0, DAYS * DAY_MINUTES - 1);

/** Without the commission amount, which the server computes: sale times rate, rounded half up. */
function saleOf(
  { id, name, price }: Product,
  currency: Currency,
  { pieces, rate }: { pieces: number; rate: number },
) {
  return {
    product_id: id,
    product_name: name,
    sale_amount: inCurrency(price, currency) * pieces,
    rate_bps: rate,
    currency,
  };
}

/** A price in US cents, in minor units of another currency: a shop's price, not an exchange rate. */
function inCurrency(cents: number, currency: Currency): number {
  if (currency === 'jpy') return Math.round(cents * 0.15) * 10; // yen have no minor unit
  return currency === 'gbp' ? Math.round(cents * 0.085) * 10 : cents;
}

function customerOf(dice: Dice): string {
  const name = `${dice.pick(CUSTOMERS_FIRST)}.${dice.pick(CUSTOMERS_LAST)}${dice.between(1, 99)}`;
  return `${name}@${dice.pick(['example.com', 'example.net', 'example.org'])}`;
}
