import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../catalogue/catalogue.ts';
import { isEventType, needsAffiliates, OWN_PREFIXES, subscriptionProblem } from './types.ts';

const OWN_TYPES = Object.keys(CATALOGUE);
const LONGEST = `a.${'b'.repeat(98)}`;
const ILL_FORMED = [
  '',
  '.',
  'order',
  '.created',
  'order.',
  'order..created',
  'order created',
  'order.cré',
  'a.b\n',
];

describe('the name of an event type', () => {
  test.each([...OWN_TYPES, 'order.created', 'a.b', 'Order-2.line_item.v2.made', LONGEST])(
    'can be %s',
    (name) => {
      expect(isEventType(name)).toBe(true);
    },
  );

  test.each([...ILL_FORMED, 'order.*', '*', `${LONGEST}b`])('cannot be %j', (name) => {
    expect(isEventType(name)).toBe(false);
  });

  test('is under one of our prefixes when it is ours, and every prefix has some', () => {
    for (const type of OWN_TYPES)
      expect(OWN_PREFIXES.filter((prefix) => type.startsWith(prefix))).toHaveLength(1);
    for (const prefix of OWN_PREFIXES) expect(OWN_TYPES.some((type) => type.startsWith(prefix))).toBe(true);
  });
});

describe('a subscription', () => {
  test.each([
    ...OWN_TYPES,
    ...OWN_PREFIXES.map((prefix) => `${prefix}*`),
    'order.created',
    'order.*',
    'order.line.*',
    'payouts.made',
    'payoutx.*',
    LONGEST,
    `${'a'.repeat(98)}.*`,
  ])('can be %s', (entry) => {
    expect(subscriptionProblem(entry)).toBeNull();
  });

  test.each([
    ...ILL_FORMED,
    '*.created',
    'order.*.created',
    'order*',
    'order.cre*',
    'order.**',
    '**',
    '.*',
    `${LONGEST}b`,
    `${'a'.repeat(99)}.*`,
  ])('cannot be %j, and the message shows the format', (entry) => {
    expect(subscriptionProblem(entry)).toMatch(/dotted name.*order\.\*.*100 characters/);
  });

  test('to everything is not written *, but omitted', () => {
    expect(subscriptionProblem('*')).toContain('omit event_types (null) for all');
  });

  test.each(['payout.padi', 'payout.paid.*', 'payout.paid.late', 'payout.Paid', 'payout.constructor'])(
    'to %s is refused with a list of the types, because it would never match',
    (entry) => {
      const problem = subscriptionProblem(entry);
      for (const part of [entry, 'payout.created', 'payout.paid', 'payout.*'])
        expect(problem).toContain(part);
      expect(problem).not.toContain('commission');
    },
  );

  test.each(['commission.imported', 'commissions.created', 'affiliate.removed', 'webhook_endpoint.enabled'])(
    'to %s is refused',
    (entry) => {
      expect(subscriptionProblem(entry)).toContain(entry);
    },
  );
});

describe('the scope affiliates', () => {
  test.each([
    [null],
    [['payout.*']],
    [['order.created', 'payout.paid']],
    [['commission.*', 'order.*']],
    [['commissions.imported']],
    [['affiliate.updated']],
    [['import.undone']],
    [['*']],
  ])('is needed for %j', (eventTypes) => {
    expect(needsAffiliates(eventTypes)).toBe(true);
  });

  test.each([
    [[]],
    [['order.created', 'order.*']],
    [['webhook_endpoint.*']],
    [['payouts.*', 'affiliates.made', 'my.payout.paid']],
  ])('is not needed for %j', (eventTypes) => {
    expect(needsAffiliates(eventTypes)).toBe(false);
  });
});
