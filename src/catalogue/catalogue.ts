import { type Static, type TSchema, Type } from 'typebox';
import { amount, currencyCode, strict, timestamp } from '../contract/schemas.ts';
import { affiliate } from '../money/affiliates/schema.ts';
import { commission } from '../money/commissions/schema.ts';
import { payoutSummary } from '../money/payouts/schema.ts';
import type { EventType } from '../outbox/queue.ts';
import { webhookEndpoint } from '../webhooks/endpoints/schema.ts';
import * as examples from './examples.ts';

interface CatalogueEntry<Data extends TSchema = TSchema> {
  /** When it happens. */
  readonly meaning: string;
  /** The schema of `data`: what the REST GET of the record shows, without its long lists. */
  readonly data: Data;
  readonly example: Static<Data>;
  /** When the event of the example happened. */
  readonly at: string;
}

const imported = strict({
  object: Type.Literal('commission_import'),
  source: Type.Enum(['batch', 'file', 'payout'], {
    description: 'payout: what a completed payout did not pay of its lines and owes again',
  }),
  created: Type.Integer(),
  unchanged: Type.Optional(Type.Integer()),
  failed: Type.Optional(Type.Integer()),
  totals: Type.Array(strict({ currency: currencyCode, amount, count: Type.Integer() })),
});

const webhookTest = strict({
  object: Type.Literal('webhook_test'),
  webhook_endpoint_id: Type.String({ description: 'the endpoint it was sent to' }),
  message: Type.String(),
});

/** Holds an example to its schema. */
const entry = <Data extends TSchema>(made: CatalogueEntry<Data>): CatalogueEntry => made;

/** Every type of event Payhook publishes of its own: the docs, and what subscribes to events, come from here. */
export const CATALOGUE: Readonly<Record<EventType, CatalogueEntry>> = {
  'payout.created': entry({
    meaning: 'A payout was made; it is unpaid.',
    data: payoutSummary,
    example: examples.payoutCreated,
    at: examples.payoutCreated.updated_at,
  }),
  'payout.updated': entry({
    meaning: 'Members, sums or destinations of the unpaid payout changed, or money of a paid one came back.',
    data: payoutSummary,
    example: examples.payoutUpdated,
    at: examples.payoutUpdated.updated_at,
  }),
  'payout.paid': entry({
    meaning: 'A payout was completed.',
    data: payoutSummary,
    example: examples.payoutPaid,
    at: examples.payoutPaid.updated_at,
  }),
  'payout.deleted': entry({
    meaning: 'An unpaid payout was deleted, or a refund emptied it.',
    data: payoutSummary,
    example: examples.payoutDeleted,
    at: examples.DELETED_AT,
  }),
  'commission.created': entry({
    meaning: 'A commission or adjustment came in by itself.',
    data: commission,
    example: examples.commissionCreated,
    at: examples.commissionCreated.updated_at,
  }),
  'commission.updated': entry({
    meaning: 'A commission was reduced by a refund, held or unheld, or such a refund was reversed.',
    data: commission,
    example: examples.commissionUpdated,
    at: examples.commissionUpdated.updated_at,
  }),
  'commission.voided': entry({
    meaning: 'A commission is not owed any more, or a clawback is not.',
    data: commission,
    example: examples.commissionVoided,
    at: examples.commissionVoided.updated_at,
  }),
  'commission.clawed_back': entry({
    meaning: 'A paid commission was refunded: the record is the clawback that the next payout settles.',
    data: commission,
    example: examples.commissionClawedBack,
    at: examples.commissionClawedBack.updated_at,
  }),
  'commissions.imported': entry({
    meaning:
      'Commissions came in by a batch or a file, or were carried over from a payout: one event for all.',
    data: imported,
    example: examples.commissionsImported,
    at: examples.IMPORTED_AT,
  }),
  'affiliate.created': entry({
    meaning: 'An affiliate was made.',
    data: affiliate,
    example: examples.affiliateCreated,
    at: examples.affiliateCreated.updated_at,
  }),
  'affiliate.updated': entry({
    meaning: 'A field of an affiliate changed.',
    data: affiliate,
    example: examples.affiliateUpdated,
    at: examples.affiliateUpdated.updated_at,
  }),
  'webhook_endpoint.disabled': entry({
    meaning: "An endpoint was disabled; the account's other endpoints hear of it.",
    data: webhookEndpoint,
    example: examples.endpointDisabled,
    at: examples.endpointDisabled.updated_at,
  }),
  'webhook_endpoint.test': entry({
    meaning: 'Somebody tried an endpoint: it goes to that one alone, whatever it subscribes to.',
    data: webhookTest,
    example: examples.endpointTest,
    at: examples.TESTED_AT,
  }),
};

/** The envelope every event is sent in, around the `data` of its type. */
export function eventSchema(type: EventType): TSchema {
  return strict({
    id: Type.String({ pattern: '^evt_[0-9a-f]{32}$' }),
    object: Type.Literal('event'),
    type: Type.Literal(type),
    timestamp,
    account_id: Type.String({ pattern: '^acc_[0-9a-f]{32}$' }),
    api_version: Type.Literal('2.0.0'),
    data: CATALOGUE[type].data,
  });
}

/** The example of a type as it would be sent. Its id carries its time, as real ones do. */
export function exampleEvent(type: EventType) {
  const { at, example } = CATALOGUE[type];
  return {
    id: `evt_${Date.parse(at).toString(16).padStart(12, '0')}74d2a9c6e1b05f38d7ac`,
    object: 'event' as const,
    type,
    timestamp: at,
    account_id: examples.ACCOUNT,
    api_version: '2.0.0' as const,
    data: example,
  };
}
