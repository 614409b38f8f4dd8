import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { strict, timestamp } from '../contract/schemas.ts';
import { affiliate } from '../money/affiliates/record.ts';
import { commission, importedCommissions } from '../money/commissions/record.ts';
import { importRecord } from '../money/imports/record.ts';
import { payoutSummary } from '../money/ledger/payout-record.ts';
import type { EventType } from '../outbox/event-types.ts';
import { webhookEndpoint } from '../webhooks/endpoints/record.ts';
import { isTest } from '../webhooks/events/record.ts';
import * as examples from './examples.ts';

interface CatalogueEntry<Data extends TObject = TObject> {
  /** The schema of `data`: what the REST GET of the record shows, without its long lists. */
  readonly data: Data;
  readonly example: Static<Data>;
  /** When the event of the example happened. */
  readonly at: string;
}

const webhookTest = strict({
  object: Type.Literal('webhook_test'),
  webhook_endpoint_id: Type.String({ description: 'the endpoint to which it was sent' }),
  message: Type.String(),
});

/** Type-checks an example against its schema. */
const entry = <Data extends TObject>(made: CatalogueEntry<Data>): CatalogueEntry => made;

/** Every type of event that Payhook publishes. The docs and the check of subscriptions use this table. */
export const CATALOGUE: Readonly<Record<EventType, CatalogueEntry>> = {
  'payout.created': entry({
    data: payoutSummary,
    example: examples.payoutCreated,
    at: examples.payoutCreated.updated_at,
  }),
  'payout.updated': entry({
    data: payoutSummary,
    example: examples.payoutUpdated,
    at: examples.payoutUpdated.updated_at,
  }),
  'payout.approved': entry({
    data: payoutSummary,
    example: examples.payoutApproved,
    at: examples.payoutApproved.updated_at,
  }),
  'payout.rejected': entry({
    data: payoutSummary,
    example: examples.payoutRejected,
    at: examples.payoutRejected.updated_at,
  }),
  'payout.paid': entry({
    data: payoutSummary,
    example: examples.payoutPaid,
    at: examples.payoutPaid.updated_at,
  }),
  'payout.deleted': entry({
    data: payoutSummary,
    example: examples.payoutDeleted,
    at: examples.DELETED_AT,
  }),
  'commission.created': entry({
    data: commission,
    example: examples.commissionCreated,
    at: examples.commissionCreated.updated_at,
  }),
  'commission.updated': entry({
    data: commission,
    example: examples.commissionUpdated,
    at: examples.commissionUpdated.updated_at,
  }),
  'commission.voided': entry({
    data: commission,
    example: examples.commissionVoided,
    at: examples.commissionVoided.updated_at,
  }),
  'commission.clawed_back': entry({
    data: commission,
    example: examples.commissionClawedBack,
    at: examples.commissionClawedBack.updated_at,
  }),
  'commissions.imported': entry({
    data: importedCommissions,
    example: examples.commissionsImported,
    at: examples.IMPORTED_AT,
  }),
  'affiliate.created': entry({
    data: affiliate,
    example: examples.affiliateCreated,
    at: examples.affiliateCreated.updated_at,
  }),
  'affiliate.updated': entry({
    data: affiliate,
    example: examples.affiliateUpdated,
    at: examples.affiliateUpdated.updated_at,
  }),
  'affiliate.deleted': entry({
    data: affiliate,
    example: examples.affiliateCreated,
    at: examples.UNDONE_AT,
  }),
  'import.undone': entry({
    data: importRecord,
    example: examples.importUndone,
    at: examples.UNDONE_AT,
  }),
  'webhook_endpoint.disabled': entry({
    data: webhookEndpoint,
    example: examples.endpointDisabled,
    at: examples.endpointDisabled.updated_at,
  }),
  'webhook_endpoint.test': entry({
    data: webhookTest,
    example: examples.endpointTest,
    at: examples.TESTED_AT,
  }),
};

/** The envelope of every event, around the `data` of its type. */
export function eventSchema(type: EventType): TSchema {
  return strict({
    id: Type.String({ pattern: '^evt_[0-9a-f]{32}$' }),
    object: Type.Literal('event'),
    type: Type.Literal(type),
    timestamp,
    account_id: Type.String({ pattern: '^acc_[0-9a-f]{32}$' }),
    api_version: Type.Literal('2.0.0'),
    is_test: Type.Optional(isTest),
    data: CATALOGUE[type].data,
  });
}

/** The example of a type as it would be sent. Its id encodes its time, as real ones do. */
export function exampleEvent(type: EventType) {
  const { at, example } = CATALOGUE[type];
  return {
    id: `evt_${Date.parse(at).toString(16).padStart(12, '0')}74d2a9c6e1b05f38d7ac`,
    object: 'event' as const,
    type,
    timestamp: at,
    account_id: examples.ACCOUNT,
    api_version: '2.0.0' as const,
    ...(type === 'webhook_endpoint.test' ? { is_test: true as const } : {}),
    data: example,
  };
}
