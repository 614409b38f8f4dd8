import { type TSchema, Type } from 'typebox';
import type { EventType } from '../../delivery/queue.ts';
import { affiliate } from '../affiliates/schema.ts';
import { commission } from '../commissions/schema.ts';
import { payoutSummary } from '../payouts/schema.ts';
import { amount, currencyCode, strict, timestamp } from '../schemas.ts';

interface CatalogueEntry {
  readonly meaning: string;
  /** The schema of `data`: what the REST GET of the record shows, without its long lists. */
  readonly data: TSchema;
}

const imported = strict({
  object: Type.Literal('commission_import'),
  source: Type.Enum(['batch', 'file']),
  created: Type.Integer(),
  unchanged: Type.Optional(Type.Integer()),
  failed: Type.Optional(Type.Integer()),
  totals: Type.Array(strict({ currency: currencyCode, amount, count: Type.Integer() })),
});

/** Every type of event Payhook publishes of its own: the docs, and what subscribes to events, come from here. */
export const CATALOGUE: Readonly<Record<EventType, CatalogueEntry>> = {
  'payout.created': { meaning: 'A payout was made; it is unpaid.', data: payoutSummary },
  'payout.updated': {
    meaning: 'Members, sums or destinations of the unpaid payout changed, or money of a paid one came back.',
    data: payoutSummary,
  },
  'payout.paid': { meaning: 'A payout was completed.', data: payoutSummary },
  'payout.deleted': { meaning: 'An unpaid payout was deleted, or a refund emptied it.', data: payoutSummary },
  'commission.created': { meaning: 'A commission or adjustment came in by itself.', data: commission },
  'commission.updated': {
    meaning: 'A commission was reduced by a refund, held or unheld.',
    data: commission,
  },
  'commission.voided': { meaning: 'A commission is not owed any more.', data: commission },
  'commission.clawed_back': {
    meaning: 'A paid commission was refunded: the record is the clawback that the next payout settles.',
    data: commission,
  },
  'commissions.imported': {
    meaning: 'Commissions came in by a batch or a file: one event for all.',
    data: imported,
  },
  'affiliate.created': { meaning: 'An affiliate was made.', data: affiliate },
  'affiliate.updated': { meaning: 'A field of an affiliate changed.', data: affiliate },
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
