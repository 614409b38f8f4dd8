import { type Static, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

/** The longest lease, in seconds. */
const LONGEST_LEASE_S = 3600;

/** The body of a claim. */
export const claimRequest = strict(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 10, description: 'the most events', examples: [50] }),
    ),
    lease_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LONGEST_LEASE_S,
        default: 30,
        description: 'for how long nobody else gets them',
        examples: [60],
      }),
    ),
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 20,
        default: 0,
        description: 'how long to wait for the first event if there is none',
        examples: [20],
      }),
    ),
    consumer: Type.Optional({
      ...text(100),
      description: 'a name of yours for who claims, shown in the log',
      examples: ['worker-3'],
    }),
  },
  { title: 'ClaimWebhookEventsBody' },
);
export type ClaimRequest = Static<typeof claimRequest>;

const eventId = Type.String({ examples: ['evt_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] });
const leaseId = Type.String({
  description: 'of this claim',
  examples: ['lease_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
});

const claimedEvent = strict(
  {
    id: eventId,
    object: Type.Literal('claimed_event'),
    type: Type.String({ examples: ['payout.paid'] }),
    attempt: Type.Integer({ description: 'from 1' }),
    lease_id: leaseId,
    lease_expires_at: { ...timestamp, description: 'acknowledge or extend before' },
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'as they would be sent to a URL, with the signature',
    }),
    body: Type.String({ description: 'the text that is signed' }),
  },
  { title: 'ClaimedEvent' },
);
export type ClaimedEvent = Static<typeof claimedEvent>;

/** The claimed events. */
export const webhookClaim = strict(
  { object: Type.Literal('webhook_claim'), items: Type.Array(claimedEvent) },
  { title: 'WebhookClaim' },
);
export type WebhookClaim = Static<typeof webhookClaim>;

const MOST_ITEMS = 100;
const named = { id: eventId, lease_id: leaseId };

/** The body of acknowledgements. */
export const acknowledgeRequest = strict(
  {
    items: Type.Array(
      strict({
        ...named,
        status: Type.Enum(['delivered', 'failed', 'cancelled'], {
          title: 'AcknowledgementStatus',
          description: 'failed: it comes again by the schedule; cancelled: it does not',
        }),
        error: Type.Optional({
          ...text(1000),
          description: 'why it was not delivered, shown in the log',
          examples: ['the order is unknown'],
        }),
      }),
      { minItems: 1, maxItems: MOST_ITEMS },
    ),
  },
  { title: 'AcknowledgeWebhookEventsBody' },
);
export type AcknowledgeRequest = Static<typeof acknowledgeRequest>;

const LEASE_LOST = 'lease_lost: the lease has ended, so nothing was changed';

/** What happened to each acknowledgement. */
export const acknowledgements = strict(
  {
    object: Type.Literal('webhook_acknowledgements'),
    items: Type.Array(
      strict({
        ...named,
        result: Type.Enum(['acknowledged', 'lease_lost'], {
          title: 'AcknowledgementResult',
          description: `acknowledged: also if it was before, with the same status; ${LEASE_LOST}`,
        }),
      }),
    ),
  },
  { title: 'WebhookAcknowledgements' },
);
export type Acknowledgements = Static<typeof acknowledgements>;

/** The body of extensions. */
export const extendRequest = strict(
  {
    items: Type.Array(strict(named), { minItems: 1, maxItems: MOST_ITEMS }),
    lease_seconds: Type.Integer({
      minimum: 0,
      maximum: LONGEST_LEASE_S,
      description: 'from now; 0 returns the events, without an attempt',
      examples: [60],
    }),
  },
  { title: 'ExtendWebhookLeasesBody' },
);
export type ExtendRequest = Static<typeof extendRequest>;

/** What happened to each lease. */
export const extensions = strict(
  {
    object: Type.Literal('webhook_leases'),
    items: Type.Array(
      strict({
        ...named,
        result: Type.Enum(['extended', 'returned', 'lease_lost'], {
          title: 'LeaseResult',
          description: LEASE_LOST,
        }),
        lease_expires_at: nullable({ ...timestamp, description: 'null: nobody has the event now' }),
      }),
    ),
  },
  { title: 'WebhookLeases' },
);
export type Extensions = Static<typeof extensions>;

/** The token of a pull endpoint, as the response of its creation. */
export const endpointToken = strict(
  {
    object: Type.Literal('webhook_endpoint_token'),
    token: nullable(
      Type.String({
        description: 'the secret, shown once; null when a stored answer is replayed',
        examples: ['phw_4fzXp2vK8sQyT1mB7cDgHjL0nRwE3aUoI6xZqYtVbNk5pS9eMd'],
      }),
    ),
    previous_token_expires_at: nullable({ ...timestamp, description: 'null: there is none' }),
  },
  { title: 'WebhookEndpointToken' },
);
export type EndpointToken = Static<typeof endpointToken>;
