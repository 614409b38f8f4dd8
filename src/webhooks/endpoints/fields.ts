import { Type } from 'typebox';
import { type Fields, type WritableField, writable } from '../../contract/fields.ts';
import { identifier, metadata, nullable, text, timestamp } from '../../contract/schemas.ts';
import { toJson } from '../../kernel/json.ts';
import { egressInputs, egressShown } from '../egress/record.ts';
import { filterColumns } from '../filters/columns.ts';
import { filter } from '../filters/record.ts';
import { batch, batchColumn, batchColumns, batchInput } from '../forms/batch.ts';
import { RENDERING_FIELDS } from '../forms/fields.ts';
import {
  customSigning,
  customSigningOrNull,
  secondSignature,
  secondSignatureInput,
  signing,
  signingSecret,
} from '../signing/record.ts';
import { knownTypes } from '../types/types.ts';
import { type Columns, customOf, nextAttempt, pausedUntil, signingOf } from './columns.ts';
import { contactFields } from './contact-fields.ts';

interface EndpointField extends WritableField {
  /** The columns of a value, checked; null if they depend on other fields or on the caller (`service.ts`). */
  readonly stored: ((value: never) => Columns) | null;
  readonly isOfPortal: boolean;
  /** The SQL in a portal; by default that of other callers. */
  readonly portalColumn?: string;
}

const status = Type.Enum(['enabled', 'disabled'], { title: 'EndpointStatus' });
const delivery = Type.Enum(['push', 'pull'], { title: 'EndpointDelivery' });
const PUSH = ['push']; // what accepts the fields of requests
const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'http or https, without credentials and fragment, at a public address',
});

/** The fields of a webhook endpoint, over `webhook_endpoints e` and its `endpoint_state s`: the only list of them. */
export const ENDPOINT_FIELDS = {
  id: {
    schema: Type.String({ examples: ['we_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    column: "public_id('we', e.id)",
  },
  object: { schema: Type.Literal('webhook_endpoint'), column: "'webhook_endpoint'" },
  delivery: {
    schema: delivery,
    input: delivery,
    column: "case when e.pull then 'pull' else 'push' end",
    type: 'other',
    isFixed: true,
    default: 'push',
    label: 'Delivery',
    help: 'push: events are sent to the URL; pull: it has none, and consumers claim its events',
    example: 'pull',
    option: '--pull',
    stored: (kind: 'push' | 'pull') => ({ pull: kind === 'pull' }),
    isOfPortal: true,
  },
  url: {
    schema: nullable(Type.String({ description: 'null with pull' })),
    input: url,
    column: 'case when not e.pull then e.url end',
    type: 'other',
    neededBy: PUSH,
    label: 'URL',
    help: 'where events are sent, including pending ones',
    example: 'https://shop.example.com/payhook',
    option: '--url <url>',
    stored: null,
    isOfPortal: true,
  },
  description: {
    schema: nullable(Type.String()),
    input: nullable(text(500)),
    type: 'text',
    label: 'Description',
    help: 'a note of yours',
    example: 'the shop in Berlin',
    option: '--description <text>',
    stored: (description: string | null) => ({ description }),
    isOfPortal: true,
  },
  owner: {
    schema: nullable(Type.String()),
    input: nullable(identifier),
    type: 'text',
    label: 'Owner',
    help: 'your name for the recipient: the endpoint also gets events that you publish for this owner, and an endpoint that has an owner keeps it',
    example: 'shop-7',
    option: '--owner <name>',
    stored: (owner: string | null) => ({ owner }),
    isOfPortal: false,
  },
  external_id: {
    schema: nullable(Type.String()),
    input: nullable(identifier),
    type: 'id',
    label: 'Your id',
    help: 'your own id of the endpoint, unique in the account',
    example: 'shop-7-orders',
    option: '--external-id <id>',
    stored: (external_id: string | null) => ({ external_id }),
    isOfPortal: false,
    portalColumn: 'null',
  },
  ...contactFields,
  event_types: {
    schema: nullable(Type.Array(Type.String(), { description: 'null = all' })),
    input: nullable(
      Type.Array(text(100), {
        minItems: 1,
        maxItems: 100,
        description: 'names such as payout.paid or payout.*; null = all',
      }),
    ),
    type: 'other',
    label: 'Events',
    help: 'the types of events that it receives',
    example: ['payout.paid', 'order.*'],
    option: '--types <types>',
    stored: (types: readonly string[] | null) => ({
      event_types: types && knownTypes(types, 'event_types'),
    }),
    isOfPortal: true,
  },
  filter: {
    schema: nullable({ ...filter, description: 'null = none' }),
    input: nullable(filter),
    type: 'other',
    label: 'Filter',
    help: 'conditions on the payload',
    example: { 'data.currency': 'usd' },
    option: '--filter <json>',
    stored: filterColumns,
    isOfPortal: false,
  },
  status: {
    schema: status,
    input: status,
    column: "case when e.disabled_at is null then 'enabled' else 'disabled' end",
    type: 'other',
    default: 'enabled',
    label: 'Status',
    help: 'events for a disabled endpoint are held until it is enabled',
    example: 'disabled',
    option: '--status <status>',
    stored: null,
    isOfPortal: true,
  },
  disabled_reason: {
    schema: nullable(
      Type.Enum(['manual', 'failing', 'gone', 'requested'], {
        title: 'DisabledReason',
        description:
          'manual: by hand; failing: every attempt failed for five days; gone: it answered 410; requested: it answered `webhook-delivery: disable`',
      }),
    ),
  },
  disabled_at: { schema: nullable(timestamp), column: 'iso(e.disabled_at)' },
  paused_until: {
    schema: nullable({
      ...timestamp,
      description:
        'nothing is sent before this time: the endpoint answered with Retry-After or was busy (429, 502, 503, 504)',
    }),
    column: `case when e.disabled_at is null then iso(${pausedUntil}) end`,
  },
  next_attempt_at: {
    schema: nullable({
      ...timestamp,
      description:
        'when the first waiting event is due; null if no event is waiting or the endpoint is disabled',
    }),
    column: `case when e.disabled_at is null then iso(${nextAttempt}) end`,
  },
  ordered: {
    schema: Type.Boolean(),
    input: Type.Boolean({
      description: 'applies to events published from now on; false releases the events that wait',
    }),
    type: 'flag',
    default: false,
    label: 'Ordered',
    help: 'events with the same ordering key are sent one after the other, in the order in which they were published',
    example: true,
    option: '--ordered',
    stored: (ordered: boolean) => ({ ordered }),
    isOfPortal: true,
  },
  batch: {
    schema: nullable(batch),
    input: nullable(batchInput),
    column: batchColumn,
    type: 'other',
    label: 'Batches',
    example: { max_events: 50, max_bytes: 65_536, max_wait_ms: 0 },
    option: '--batch <number>',
    acceptedBy: PUSH,
    stored: batchColumns,
    isOfPortal: true,
  },
  rate_limit: {
    schema: nullable(Type.Integer({ description: 'null = no limit' })),
    input: nullable(Type.Integer({ minimum: 1, maximum: 10_000, description: 'null = no limit' })),
    type: 'integer',
    label: 'Requests per second',
    help: 'the most requests that it is sent in a second',
    example: 20,
    option: '--rate-limit <number>',
    acceptedBy: PUSH,
    stored: (rate_limit: number | null) => ({ rate_limit }),
    isOfPortal: true,
  },
  max_age: {
    schema: nullable(Type.Integer({ description: 'seconds; null = no limit' })),
    input: nullable(Type.Integer({ minimum: 1, maximum: 31_536_000, description: 'null = no limit' })),
    type: 'integer',
    label: 'Seconds until an event expires',
    help: 'an event that was not delivered this many seconds after it was created is cancelled instead of sent',
    example: 3600,
    option: '--max-age <seconds>',
    stored: (max_age: number | null) => ({ max_age }),
    isOfPortal: true,
  },
  headers: {
    schema: Type.Array(Type.String(), { description: 'the names; the values are never shown' }),
    input: Type.Record(Type.String(), nullable(Type.String()), {
      description: 'values by name; null removes a header, others stay',
    }),
    column: 'e.header_names',
    type: 'other',
    label: 'Custom headers',
    help: 'your own headers, sent with every delivery',
    example: { 'x-shop': '7' },
    option: '--header <name:value>',
    acceptedBy: PUSH,
    stored: null,
    isOfPortal: true,
  },
  ...RENDERING_FIELDS,
  signing: {
    schema: signing,
    input: signing,
    column: signingOf('e.signing'),
    type: 'other',
    default: 'standard',
    label: 'Signed as',
    example: 'custom',
    option: '--signing <scheme>',
    stored: null,
    isOfPortal: true,
  },
  custom_signing: {
    schema: nullable(customSigning),
    input: customSigningOrNull,
    column: customOf('e.signing'),
    type: 'other',
    label: 'Custom scheme',
    example: {
      header: 'x-signature',
      content: '{timestamp}.{body}',
      value: 't={timestamp},v0={signature}',
      encoding: 'hex',
      algorithm: 'sha512',
      secret_prefix: 'shop_',
      headers: { 'x-signature-timestamp': '{timestamp}' },
    },
    option: '--custom-signing <json>',
    stored: null,
    isOfPortal: true,
  },
  secret: {
    input: signingSecret,
    type: 'other',
    label: 'Secret',
    example: 'secret-of-the-receiver',
    option: '--secret <secret>',
    stored: null,
    isOfPortal: true,
  },
  second_signature: {
    schema: nullable(secondSignature),
    input: nullable({
      ...secondSignatureInput,
      description:
        'also sent until `expires_at`. Fields that are left out have the values of the previous signature. Without it, a ' +
        'change of scheme or secret sends the previous signature for a day; null = none',
    }),
    column: `case when e.previous_secret_until > now() then json_build_object(
    'signing', ${signingOf('e.previous_signing')}, 'custom_signing', ${customOf('e.previous_signing')},
    'expires_at', iso(e.previous_secret_until)) end`,
    type: 'other',
    label: 'Second signature',
    example: {
      signing: 'stripe',
      secret: 'whsec_of_the_other_product',
      expires_at: '2026-12-31T00:00:00.000Z',
    },
    option: '--second-until <when>',
    stored: null,
    isOfPortal: true,
  },
  proxy: {
    schema: egressShown.proxy,
    input: egressInputs.proxy,
    column: "e.egress ->> 'proxy'",
    type: 'other',
    label: 'Proxy',
    example: 'http://proxy.example.com:3128',
    option: '--proxy <url>',
    acceptedBy: PUSH,
    stored: null,
    isOfPortal: false,
    portalColumn: 'null',
  },
  client_certificate: {
    schema: egressShown.client_certificate,
    input: egressInputs.client_certificate,
    column: "e.egress -> 'client_certificate'",
    type: 'other',
    label: 'Client certificate',
    example: {
      certificate: '-----BEGIN CERTIFICATE-----…',
      key: '-----BEGIN PRIVATE KEY-----…',
    },
    option: '--client-certificate <file>',
    acceptedBy: PUSH,
    stored: null,
    isOfPortal: false,
    portalColumn: 'null::json',
  },
  client_credentials: {
    schema: egressShown.client_credentials,
    input: egressInputs.client_credentials,
    column: "e.egress -> 'client_credentials'",
    type: 'other',
    label: 'Access token',
    example: {
      token_url: 'https://id.example.com/oauth/token',
      client_id: 'payhook',
      client_secret: 'client-secret-of-payhook',
      scope: 'events:write',
      audience: 'https://shop.example.com/',
      authentication: 'body',
    },
    option: '--token-url <url>',
    acceptedBy: PUSH,
    stored: null,
    isOfPortal: false,
    portalColumn: 'null::json',
  },
  metadata: {
    schema: metadata,
    input: metadata,
    type: 'metadata',
    default: {},
    label: 'Metadata',
    example: { team: 'till' },
    option: '--metadata <key=value>',
    stored: (value: Readonly<Record<string, string>>) => ({ metadata: toJson(value) }),
    isOfPortal: false,
    portalColumn: "'{}'::json",
  },
  first_failure_at: { schema: nullable(timestamp), column: 'iso(s.failing_since)' },
  last_claimed_at: {
    schema: nullable({
      ...timestamp,
      description: 'when a consumer last asked for events, to the minute; null with push',
    }),
    column: 'iso(s.claimed_at)',
  },
  last_success_at: { schema: nullable(timestamp), column: 'iso(s.last_success_at)' },
  created_at: { schema: timestamp, column: 'iso(id_time(e.id))' },
  updated_at: { schema: timestamp, column: 'iso(greatest(e.updated_at, id_time(e.id)))' },
} as const satisfies Fields<EndpointField>;

/** The columns of the named fields that depend on nothing else, checked. */
export function columnsOfFields(input: object): Columns {
  const values = new Map<string, unknown>(Object.entries(input));
  const columns = writable(ENDPOINT_FIELDS).map(([name, { stored }]) => {
    const value = values.get(name);
    return value === undefined ? {} : stored?.(value as never);
  });
  return Object.assign({}, ...columns);
}
