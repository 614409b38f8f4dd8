import { CATALOGUE, eventSchema } from '../../catalogue/catalogue.ts';
import { EVENT_TYPES } from '../../outbox/event-types.ts';

type Json = Record<string, unknown>;

const header = (name: string, description: string, rule: Json = {}): Json => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...rule },
});

/** The headers of each request to an endpoint (Standard Webhooks). */
const HEADERS = [
  header('webhook-id', 'the id of the event, the same in every attempt', { pattern: '^evt_[0-9a-f]{32}$' }),
  header('webhook-timestamp', 'when this attempt was made, in seconds since 1970', { pattern: '^[0-9]+$' }),
  header('webhook-signature', 'signatures, each `v1,` and base64, separated by spaces'),
];

/** `payout.paid` -> `PayoutPaid`. */
const pascal = (type: string) =>
  type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The `webhooks` of the description: the events Payhook sends to endpoints, by type. */
export function webhooksOf(): Json {
  return Object.fromEntries(
    (Object.keys(CATALOGUE) as (keyof typeof CATALOGUE)[]).map((type) => [
      type,
      {
        post: {
          operationId: `on${pascal(type)}`,
          tags: ['events'],
          security: [],
          summary: type,
          description: EVENT_TYPES[type],
          parameters: HEADERS,
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: { ...eventSchema(type), title: `${pascal(type)}Event` } },
            },
          },
          responses: {
            '2XX': {
              description: 'The event is delivered. Any other response, or none in time, leads to a retry.',
            },
          },
        },
      },
    ]),
  );
}
