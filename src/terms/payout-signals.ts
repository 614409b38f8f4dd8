import { formatDecimal } from '../kernel/money.ts';

/*
 * What may point to fraud in a payout, as data. Since June 2026 every business that originates ACH payments needs risk-based
 * procedures to find payments that fraud caused (Nacha Operating Rules, subsection 2.2.4: nacha.org, "Risk Management Topics: Fraud
 * Monitoring"; epayresources.org and nebankmn.com for its second phase; checked on 2026-11-27; the text of the rules itself was not
 * read). Settings, checks, the guide and the texts read this table; `money/ledger/signals.ts` has the SQL of each rule.
 */

/** What a signal does: nothing, because its rule is off; it is shown; or it also keeps the line from being paid until a person has reviewed it. */
export const SIGNAL_ACTIONS = ['off', 'warn', 'block'] as const;
export type SignalAction = (typeof SIGNAL_ACTIONS)[number];

/** A whole number that a rule compares with. */
export interface SignalNumber {
  readonly name: 'times' | 'affiliates' | 'days';
  readonly default: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly meaning: string;
}

interface SignalRuleRow {
  /** In a few words, for lists. */
  readonly label: string;
  /** When it is found. */
  readonly meaning: string;
  /** Whether a line alone decides, or other lines of the payout with it. */
  readonly about: 'line' | 'group';
  /** Its limit in minor units by currency: the default, and what it means. */
  readonly amounts?: { readonly default: Readonly<Record<string, number>>; readonly meaning: string };
  readonly numbers?: readonly SignalNumber[];
}

/** The months of which payments are compared: a year, and one more for those who pay once a year. */
export const HISTORY_MONTHS = 13;

const HISTORY = `the last ${HISTORY_MONTHS} months`;

/** The rules, in the order in which they are shown. */
export const SIGNAL_RULES = {
  destination_changed: {
    label: 'destination changed',
    meaning: `the line is paid to another account, address or method than the last payment of ${HISTORY}`,
    about: 'line',
  },
  shared_destination: {
    label: 'shared destination',
    meaning: 'several affiliates of the payout are paid to one bank account',
    about: 'group',
  },
  first_payout_above: {
    label: 'large first payout',
    meaning: `the affiliate was not paid in this currency in ${HISTORY}, and the amount is above the limit`,
    about: 'line',
    amounts: {
      default: { eur: 100_000, gbp: 100_000, usd: 100_000 },
      meaning: 'the limit in minor units by currency; a currency without one gives no signal',
    },
  },
  amount_above_history: {
    label: 'unusual amount',
    meaning: `the amount is more than \`times\` the largest payment of ${HISTORY}`,
    about: 'line',
    amounts: {
      default: { eur: 20_000, gbp: 20_000, usd: 20_000 },
      meaning: 'the amount in minor units by currency up to which there is no signal',
    },
    numbers: [
      { name: 'times', default: 3, minimum: 2, maximum: 1000, meaning: 'how many times the largest payment' },
    ],
  },
  imported_together: {
    label: 'imported together',
    meaning:
      'at least `affiliates` affiliates of the payout were created by one import of the last `days` days and were never paid',
    about: 'group',
    numbers: [
      { name: 'affiliates', default: 10, minimum: 2, maximum: 100_000, meaning: 'how many affiliates' },
      { name: 'days', default: 30, minimum: 1, maximum: 365, meaning: 'how many days after the import' },
    ],
  },
} as const satisfies Readonly<Record<string, SignalRuleRow>>;

export type SignalRule = keyof typeof SIGNAL_RULES;
export const SIGNAL_RULE_NAMES = Object.keys(SIGNAL_RULES) as SignalRule[];

/** A rule as the others see it, with all that a rule may have. */
export const signalRule = (name: SignalRule): SignalRuleRow => SIGNAL_RULES[name];

/** The setting of a rule. */
export interface SignalSetting {
  readonly action: SignalAction;
  readonly amounts?: Readonly<Record<string, number>>;
  readonly times?: number;
  readonly affiliates?: number;
  readonly days?: number;
}

/** The setting of a rule of which the account says nothing. */
export function defaultSetting(name: SignalRule): SignalSetting {
  const { amounts, numbers = [] } = signalRule(name);
  return {
    action: 'warn',
    ...(amounts ? { amounts: amounts.default } : {}),
    ...Object.fromEntries(numbers.map((number) => [number.name, number.default])),
  };
}

/** The rules with their settings as they are without any change. */
export const DEFAULT_SIGNALS = Object.fromEntries(
  SIGNAL_RULE_NAMES.map((name) => [name, defaultSetting(name)]),
) as Record<SignalRule, SignalSetting>;

interface Place {
  readonly type: string;
  readonly last_four: string | null;
}

/** What a signal was found by. */
export interface FoundSignal {
  readonly rule: SignalRule;
  readonly currency: string;
  readonly amount: number;
  readonly details: {
    readonly limit: number | null;
    readonly largest_payment: number | null;
    readonly previous_destination: Place | null;
    readonly destination: Place | null;
    readonly affiliates: readonly number[] | null;
    readonly affiliate_count: number | null;
  };
}

/** Why a line has a signal, in words that follow a colon. */
export function signalReason({ rule, currency, amount, details }: FoundSignal): string {
  const money = (minor: number | null) =>
    `${formatDecimal(BigInt(minor ?? 0), currency)} ${currency.toUpperCase()}`;
  const place = (at: Place | null) =>
    at === null ? 'unknown' : at.last_four === null ? at.type : `${at.type} …${at.last_four}`;
  switch (rule) {
    case 'destination_changed':
      return `paid to ${place(details.destination)}, the last payment went to ${place(details.previous_destination)}`;
    case 'shared_destination': {
      const ids = details.affiliates ?? [];
      const more = (details.affiliate_count ?? 0) - ids.length;
      return `${place(details.destination)} is the account of affiliates ${ids.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    }
    case 'first_payout_above':
      return `${money(amount)} is the first payment, and above ${money(details.limit)}`;
    case 'amount_above_history':
      return `${money(amount)} is above ${money(details.limit)}; the largest payment was ${money(details.largest_payment)}`;
    case 'imported_together':
      return `one import created ${details.affiliate_count} affiliates who are paid for the first time`;
  }
}

/** The rules as a Markdown table for the guide. */
export function signalTable(): string {
  const units = (amounts: Readonly<Record<string, number>>) =>
    Object.entries(amounts).map(
      ([code, minor]) => `${formatDecimal(BigInt(minor), code)} ${code.toUpperCase()}`,
    );
  const limits = (name: SignalRule) => {
    const { amounts, numbers = [] } = signalRule(name);
    return [
      ...(amounts ? [`\`amounts\`: ${units(amounts.default).join(', ')}`] : []),
      ...numbers.map((each) => `\`${each.name}\`: ${each.default} (${each.minimum} to ${each.maximum})`),
    ].join('; ');
  };
  return [
    '| Rule | Found when | Limits by default |',
    '| --- | --- | --- |',
    ...SIGNAL_RULE_NAMES.map((name) => `| \`${name}\` | ${signalRule(name).meaning} | ${limits(name)} |`),
  ].join('\n');
}
