import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

const STATUSES = ['failed', 'pending', 'delivered', 'cancelled'] as const;

const status = Type.Enum([...STATUSES], { title: 'RecoveredStatus' });

/** The filters of a recovery, with defaults filled in. */
const filters = strict(
  {
    since: timestamp,
    until: timestamp,
    status: Type.Array(status),
    types: nullable(Type.Array(Type.String(), { description: 'null = all' })),
    missing: Type.Boolean({
      description: 'the events that it never got; `status` is then empty',
    }),
  },
  { title: 'RecoveryFilters' },
);

const action = Type.Enum(['recover', 'discard'], {
  title: 'RecoveryAction',
  description: 'recover: sends the events again; discard: cancels those that wait',
});
const waiting = Type.Integer({
  description: 'events that were already due or being sent: that attempt counts',
});

/** The recovery record, also of a discard. */
export const webhookRecovery = strict(
  {
    id: Type.String({ examples: ['rec_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('webhook_recovery'),
    webhook_endpoint_id: Type.String(),
    action,
    status: Type.Enum(['pending', 'running', 'paused', 'completed', 'cancelled'], {
      title: 'RecoveryStatus',
      description: 'paused: the endpoint is disabled; the recovery continues when it is enabled',
    }),
    filters,
    processed_until: nullable(
      Type.String({
        format: 'date-time',
        description: 'its progress from `since` to `until`: events created before this were processed',
      }),
    ),
    queued_count: Type.Integer({ description: 'events it queued; 0 for a discard' }),
    discarded_count: Type.Integer({ description: 'events it cancelled; 0 for a recovery' }),
    skipped_count: waiting,
    created_by: Type.String(),
    created_at: timestamp,
    started_at: nullable(timestamp),
    completed_at: nullable(timestamp),
    cancelled_at: nullable(timestamp),
  },
  { title: 'WebhookRecovery' },
);
export type WebhookRecovery = Static<typeof webhookRecovery>;

/** Its columns, over `webhook_recoveries r` and `endpointJoin`. */
export const record = columnsOf(webhookRecovery, {
  id: "public_id('rec', r.id)",
  object: "'webhook_recovery'",
  webhook_endpoint_id: "public_id('we', r.endpoint_id)",
  action: 'r.action',
  status: `case when r.completed_at is not null then 'completed' when r.cancelled_at is not null then 'cancelled'
    when e.disabled_at is not null and r.action = 'recover' then 'paused' when r.started_at is not null then 'running' else 'pending' end`,
  filters: `json_build_object('since', iso(r.since), 'until', iso(r.until), 'status', r.statuses, 'types', r.types, 'missing', r.statuses = '{}')`,
  processed_until: `iso(case when r.completed_at is not null then r.until
    when r.started_at is not null then id_time(r.cursor) end)`,
  queued_count: "case when r.action = 'recover' then r.queued_count else 0 end",
  discarded_count: "case when r.action = 'discard' then r.queued_count else 0 end",
  skipped_count: 'r.skipped_count',
  created_by: 'r.created_by',
  created_at: 'iso(id_time(r.id))',
  started_at: 'iso(r.started_at)',
  completed_at: 'iso(r.completed_at)',
  cancelled_at: 'iso(r.cancelled_at)',
});
export const endpointJoin = sql`join webhook_endpoints e on e.account_id = r.account_id and e.id = r.endpoint_id`;

const SINCE =
  'events created at or after it: an RFC 3339 instant, or a day YYYY-MM-DD in the time zone of the account';
const since = { since: Type.String({ minLength: 1, description: SINCE }) };
const sinceOrMissing = {
  since: Type.Optional(
    Type.String({
      minLength: 1,
      description: `${SINCE}; required without \`missing\`, by default the oldest event`,
    }),
  ),
  missing: Type.Optional(
    Type.Boolean({
      description: 'the events that the endpoint never got, but would get now; not with `status`',
      default: false,
    }),
  ),
};
const until = {
  until: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'events created before it, including a whole day; at most now, which is the default',
    }),
  ),
};
const chosenStatus = {
  status: Type.Optional(
    Type.Union([status, Type.Array(status, { minItems: 1, maxItems: STATUSES.length })], {
      description: 'the status of the events in the log, one or several; default failed',
      default: 'failed',
    }),
  ),
};
const chosenTypes = {
  types: Type.Optional(
    nullable(
      Type.Array(text(100), {
        minItems: 1,
        maxItems: 100,
        description: 'names such as payout.paid or payout.*; null = all',
      }),
    ),
  ),
};

/** The body for creating a recovery. */
export const recoveryRequest = strict({ ...sinceOrMissing, ...until, ...chosenStatus, ...chosenTypes });

/** The body for creating a discard. */
export const discardRequest = strict({ ...since, ...until, ...chosenTypes });
/** The body for counting what either would take. */
export const recoveryPreviewRequest = strict({
  action: Type.Optional(action),
  ...sinceOrMissing,
  ...until,
  ...chosenStatus,
  ...chosenTypes,
});
export type RecoveryPreviewRequest = Static<typeof recoveryPreviewRequest>;

/** What a job would take now. */
export const recoveryPreview = strict(
  {
    object: Type.Literal('recovery_preview'),
    webhook_endpoint_id: Type.String(),
    action,
    filters,
    matching_count: Type.Integer({ minimum: 0, description: 'events that match now' }),
  },
  { title: 'RecoveryPreview' },
);
export type RecoveryPreview = Static<typeof recoveryPreview>;
