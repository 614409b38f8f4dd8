import { Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

export const STATUSES = ['failed', 'pending', 'delivered'] as const;

/** What a recovery sends again, as it was applied. */
const filters = strict({
  since: timestamp,
  until: timestamp,
  status: Type.Array(Type.Enum([...STATUSES], { title: 'RecoveredStatus' })),
  types: nullable(Type.Array(Type.String(), { description: 'null = all' })),
});

/** The recovery record. */
export const webhookRecovery = strict(
  {
    id: Type.String({ examples: ['rec_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('webhook_recovery'),
    webhook_endpoint_id: Type.String(),
    status: Type.Enum(['pending', 'running', 'paused', 'completed', 'cancelled'], {
      title: 'RecoveryStatus',
      description: 'paused: the endpoint is disabled; it goes on when the endpoint is enabled',
    }),
    filters,
    processed_until: nullable(
      Type.String({
        format: 'date-time',
        description: 'events created before this were looked at: how far it is between `since` and `until`',
      }),
    ),
    queued_count: Type.Integer({ description: 'events it put into work' }),
    skipped_count: Type.Integer({
      description: 'events that were due or under way anyway: that attempt is theirs',
    }),
    created_by: Type.String(),
    created_at: timestamp,
    started_at: nullable(timestamp),
    completed_at: nullable(timestamp),
    cancelled_at: nullable(timestamp),
  },
  { title: 'WebhookRecovery' },
);
