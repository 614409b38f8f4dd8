import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { strict, timestamp } from '../contract/schemas.ts';
import { CURRENT_VERSION } from '../db/api-versions.ts';
import { affiliate } from '../money/affiliates/record.ts';
import { commission, importedCommissions } from '../money/commissions/record.ts';
import { importRecord } from '../money/imports/record.ts';
import { payoutSummary } from '../money/ledger/payout-record.ts';
import type { Changes } from '../outbox/changes.ts';
import { type EventType, isUpdate, type UpdateType } from '../outbox/event-types.ts';
import { webhookEndpoint } from '../webhooks/endpoints/record.ts';
import { isTest } from '../webhooks/events/record.ts';
import { changes } from '../webhooks/types/changes.ts';
import * as examples from './examples.ts';

interface CatalogueEntry<Data extends TObject = TObject> {
  /** The schema of `data`: what the REST GET of the record shows, without its long lists. */
  readonly data: Data;
  readonly example: Static<Data>;
  /** The changes of the example, of a type that reports an update. */
  readonly changes?: Changes;
  /** When the event of the example happened. */
  readonly at: string;
}

const webhookTest = strict({
  object: Type.Literal('webhook_test'),
  webhook_endpoint_id: Type.String({ description: 'the endpoint to which it was sent' }),
  message: Type.String(),
});

/** Type-checks an example against its schema. */
const entry = <Data extends TObject, Entry extends CatalogueEntry<Data>>(
  made: Entry & { readonly data: Data },
): Entry => made;

/** Every type of event that Payhook publishes. The docs and the check of subscriptions use this table. */
export const CATALOGUE: Readonly<
  Record<UpdateType, CatalogueEntry & { readonly changes: Changes }> &
    Record<Exclude<EventType, UpdateType>, CatalogueEntry & { readonly changes?: never }>
> = {
  'payout.created': entry({
    data: payoutSummary,
    example: examples.payoutCreated,
    at: examples.payoutCreated.updated_at,
  }),
  'payout.updated': entry({
    data: payoutSummary,
    example: examples.payoutUpdated,
    changes: examples.CHANGES['payout.updated'],
    at: examples.payoutUpdated.updated_at,
  }),
  'payout.approved': entry({
    data: payoutSummary,
    example: examples.payoutApproved,
    changes: examples.CHANGES['payout.approved'],
    at: examples.payoutApproved.updated_at,
  }),
  'payout.rejected': entry({
    data: payoutSummary,
    example: examples.payoutRejected,
    changes: examples.CHANGES['payout.rejected'],
    at: examples.payoutRejected.updated_at,
  }),
  'payout.paid': entry({
    data: payoutSummary,
    example: examples.payoutPaid,
    changes: examples.CHANGES['payout.paid'],
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
    changes: examples.CHANGES['commission.updated'],
    at: examples.commissionUpdated.updated_at,
  }),
  'commission.voided': entry({
    data: commission,
    example: examples.commissionVoided,
    changes: examples.CHANGES['commission.voided'],
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
    changes: examples.CHANGES['affiliate.updated'],
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
    changes: examples.CHANGES['import.undone'],
    at: examples.UNDONE_AT,
  }),
  'webhook_endpoint.disabled': entry({
    data: webhookEndpoint,
    example: examples.endpointDisabled,
    changes: examples.CHANGES['webhook_endpoint.disabled'],
    at: examples.endpointDisabled.updated_at,
  }),
  'webhook_endpoint.test': entry({
    data: webhookTest,
    example: examples.endpointTest,
    at: examples.TESTED_AT,
  }),
};

/** The envelope of every event, around the `data` of its type. */
export const eventSchema = (type: EventType): TSchema =>
  envelope(type, CATALOGUE[type].data, isUpdate(type) ? { changes } : {});

const envelope = (type: string, data: TSchema, more: TProperties = {}): TSchema =>
  strict({
    id: Type.String({ pattern: '^evt_[0-9a-f]{32}$' }),
    object: Type.Literal('event'),
    type: Type.Literal(type),
    timestamp,
    account_id: Type.String({ pattern: '^acc_[0-9a-f]{32}$' }),
    api_version: Type.Literal(CURRENT_VERSION),
    is_test: Type.Optional(isTest),
    ...more,
    data,
  });

type Schema = Record<string, unknown>;

/** The same around the data of an own type, whose schema is null if any object will do. */
export function ownEventSchema(type: string, data: Schema | null): Schema {
  const { additionalProperties: _, ...whole } = envelope(type, Type.Unknown()) as Schema;
  const { $schema: _dialect, $id: _id, ...placed } = withMovedReferences(data ?? {}) as Schema;
  return { ...whole, properties: { ...(whole.properties as Schema), data: { type: 'object', ...placed } } };
}

/** A schema as part of another one: its references begin at the place of `data`. */
const withMovedReferences = (schema: Schema): unknown =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === '$ref' && typeof value === 'string' ? value.replace(/^#/, '#/properties/data') : value,
    ),
  );

/** The example of a type as it would be sent. */
export function exampleEvent(type: EventType) {
  const { at, example, changes: made } = CATALOGUE[type];
  const isTest = type === 'webhook_endpoint.test';
  return wholeEvent({
    type,
    at,
    account: examples.ACCOUNT,
    more: { ...(isTest ? { is_test: true as const } : {}), ...(made ? { changes: made } : {}) },
    data: example,
  });
}

/** The same of a type of an account's own. */
export const ownEventExample = (type: string, account: string, data: Schema) =>
  wholeEvent({ type, at: examples.IMPORTED_AT, account, more: {}, data });

/** An event whose id encodes its time, as real ones do. */
function wholeEvent<More extends object, Data extends object>({
  type,
  at,
  account,
  more,
  data,
}: {
  readonly type: string;
  readonly at: string;
  readonly account: string;
  readonly more: More;
  readonly data: Data;
}) {
  return {
    id: `evt_${Date.parse(at).toString(16).padStart(12, '0')}74d2a9c6e1b05f38d7ac`,
    object: 'event' as const,
    type,
    timestamp: at,
    account_id: account,
    api_version: CURRENT_VERSION,
    ...more,
    data,
  };
}
