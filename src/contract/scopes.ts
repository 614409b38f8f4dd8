import type { Capability } from './roles.ts';

/** The OAuth scopes an application can ask for, with their meaning. An API key holds them all. */
export const SCOPES = {
  account: 'account details and settings',
  users: 'manage users',
  customers: 'read and manage customers',
  checkouts: 'read and manage checkouts',
  subscriptions: 'read and manage subscriptions',
  subscription_metered_billing: 'manage metered billing for subscriptions',
  integrations: 'manage integrations',
  orders: 'read and manage orders',
  payments: 'read and manage payments',
  paymentplans: 'read and manage payment plans',
  webhooks: 'manage webhook endpoints and view event logs',
  promos: 'read and manage promo or discount codes',
  affiliates: 'read and manage affiliates and programs',
  products: 'read and manage products',
  analytics: 'read analytics data (revenue, orders, subscriptions, MRR)',
  reports: 'create, run and read saved reports and their results',
} as const;
export type Scope = keyof typeof SCOPES;
export const ALL_SCOPES: ReadonlySet<Scope> = new Set(Object.keys(SCOPES) as Scope[]);

interface Opening {
  /** What it lets an application do with what the scope is about. */
  readonly gives: readonly Capability[];
  /** What the merchant is asked to allow: a label, and the details. */
  readonly may: string;
  readonly more: string;
}

/**
 * What a scope opens. A scope that opens nothing has no line here and is never offered; the compiler compares the
 * capabilities with the routes, and a test the lines.
 */
export const OPENINGS = {
  account: {
    gives: ['read', 'write'],
    may: 'Change the settings of your account',
    more: 'Its name, currency and time zone, the hold on commissions, the minimum payouts, where portals may be framed, and which e-mails you get.',
  },
  webhooks: {
    gives: ['read', 'webhooks'],
    may: 'Change where your webhooks go, and read their signing secrets',
    more: 'Make, change and delete endpoints and event types, read the delivery log and send events again.',
  },
  affiliates: {
    gives: ['read', 'write', 'files'],
    may: 'Make and complete payouts',
    more: 'Read and change affiliates, their payment details, programs, commissions and refunds; download payment files.',
  },
  analytics: {
    gives: ['read'],
    may: 'See what you earn and pay out over time',
    more: 'Sums and counts of commissions by day, week or month; no affiliate and no order by itself.',
  },
} as const satisfies { readonly [Name in Scope]?: Opening };
export type OpeningScope = keyof typeof OPENINGS;

/** What a scope opens; undefined for one that opens nothing. */
export const openingOf = (scope: Scope): Opening | undefined =>
  Object.hasOwn(OPENINGS, scope) ? OPENINGS[scope as OpeningScope] : undefined;

/** The scopes that open something. */
export const OPENING_SCOPES: ReadonlySet<Scope> = new Set(Object.keys(OPENINGS) as OpeningScope[]);
