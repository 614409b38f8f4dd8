import { CATALOGUE, eventSchema, exampleEvent } from '../../catalogue/catalogue.ts';
import { EVENT_TYPES } from '../../outbox/event-types.ts';

type Json = Record<string, unknown>;

const header = (name: string, description: string, rule: Json = {}): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...rule },
});

/** The headers of each request to an endpoint (Standard Webhooks), as components. */
export const WEBHOOK_HEADERS: Readonly<Record<string, Json>> = {
  WebhookId: header('webhook-id', 'the id of the event, the same in every attempt', {
    pattern: '^evt_[0-9a-f]{32}$',
  }),
  WebhookTimestamp: header('webhook-timestamp', 'when this attempt was made, in seconds since 1970', {
    pattern: '^[0-9]+$',
  }),
  WebhookSignature: header('webhook-signature', 'signatures, each `v1,` and base64, separated by spaces'),
};

/** `payout.paid` -> `PayoutPaid`. */
const pascal = (type: string) =>
  type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The tag of the requests to endpoints. Generators make a class of each tag, so it has no operation of the API. */
export const WEBHOOKS = 'webhooks';

const TYPES = Object.keys(CATALOGUE) as (keyof typeof CATALOGUE)[];

const request = (id: string, about: Json, content: Json, responses: Json = {}): Json => ({
  post: {
    operationId: id,
    tags: [WEBHOOKS],
    security: [],
    ...about,
    parameters: Object.keys(WEBHOOK_HEADERS).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    requestBody: { required: true, content: { 'application/json': content } },
    responses: {
      '2XX': {
        description: 'The event is delivered. Any other response, or none in time, leads to a retry.',
      },
      ...responses,
    },
  },
});

/** The `webhooks` of the description: the events Payhook sends to endpoints, by type. */
export function webhooksOf(): Json {
  return Object.fromEntries(
    TYPES.map((type) => {
      const about = { summary: type, description: EVENT_TYPES[type] };
      const schema = { ...eventSchema(type), title: `${pascal(type)}Event` };
      return [type, request(`on${pascal(type)}`, about, { schema })];
    }),
  );
}

interface Webhook {
  readonly post: Json & { readonly requestBody: { readonly content: Readonly<Record<string, Json>> } };
}

function withExample(webhook: Webhook | undefined, example: object) {
  if (!webhook) return webhook;
  const { requestBody, ...post } = webhook.post;
  const content = { 'application/json': { ...requestBody.content['application/json'], example } };
  return { post: { ...post, requestBody: { ...requestBody, content } } };
}

/**
 * The description with an example of each event, and with all events as one type, which the operation that creates an
 * endpoint refers to.
 */
export function withEvents(description: Json): Json {
  const { paths, components, webhooks, ...rest } = description as {
    webhooks: Record<string, Webhook>;
    paths: Record<string, Record<string, Json>>;
    components: Json & { schemas: Json };
  };
  const references = TYPES.map((type) => `#/components/schemas/${pascal(type)}Event`);
  const PayhookEvent = {
    description: 'An event of Payhook. Events of your own have the same envelope.',
    oneOf: references.map(($ref) => ({ $ref })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(TYPES.map((type, index) => [type, references[index]])),
    },
  };
  const about = { summary: 'An event', description: 'An event that the endpoint subscribes to.' };
  const content = { schema: { $ref: '#/components/schemas/PayhookEvent' } };
  const event = request('onEvent', about, content, { '4XX': { description: 'The event is sent again.' } });
  const place = '/v2/webhook-endpoints';
  const { post: create, ...others } = paths[place] ?? {};
  const calling = { ...create, callbacks: { event: { '{$request.body#/url}': event } } };
  return {
    ...rest,
    webhooks: Object.fromEntries(
      TYPES.map((type) => [type, withExample(webhooks[type], exampleEvent(type))]),
    ),
    paths: { ...paths, [place]: { ...others, post: calling } },
    components: { ...components, schemas: { ...components.schemas, PayhookEvent } },
  };
}
