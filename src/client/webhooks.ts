import type { RequestSpec } from './transport.ts';
import type {
  EventInput,
  List,
  ListQuery,
  NewWebhookEndpoint,
  PublishedEvent,
  WebhookEndpoint,
  WebhookEndpointInput,
  WebhookEndpointSecret,
  WebhookEvent,
  WebhookEventWithAttempts,
  WebhookQuery,
} from './types.ts';

/** The part of the client that is about events and where they go. */
export interface WebhookClient {
  listWebhookEndpoints(query?: ListQuery): Promise<List<WebhookEndpoint>>;
  createWebhookEndpoint(input: WebhookEndpointInput & { readonly url: string }): Promise<NewWebhookEndpoint>;
  getWebhookEndpoint(id: string): Promise<WebhookEndpoint>;
  /** Changes what is named. Enabled again, an endpoint gets all that was held for it. */
  changeWebhookEndpoint(id: string, change: WebhookEndpointInput): Promise<WebhookEndpoint>;
  deleteWebhookEndpoint(id: string): Promise<void>;
  getWebhookEndpointSecret(id: string): Promise<WebhookEndpointSecret>;
  /** Makes a new secret; the old one signs too for `overlapSeconds`, without it for a day. */
  rotateWebhookEndpointSecret(id: string, overlapSeconds?: number): Promise<WebhookEndpointSecret>;
  /** Sends a test event to this endpoint only. */
  testWebhookEndpoint(id: string): Promise<WebhookEvent>;
  /** The delivery log of one endpoint, of a deleted one too. */
  listEventsOfWebhookEndpoint(id: string, query?: WebhookQuery): Promise<List<WebhookEvent>>;
  /** One record with its payload and its attempts. */
  getEventOfWebhookEndpoint(id: string, event: string): Promise<WebhookEventWithAttempts>;
  /** Sends an event again now, with the same `webhook-id`. */
  retryEventOfWebhookEndpoint(id: string, event: string): Promise<void>;
  /** The delivery log of the account: an event has a record for each endpoint. */
  listWebhookEvents(query?: WebhookQuery): Promise<List<WebhookEvent>>;
  /** Publishes an event of your own; the same again under the same `external_id` answers the one stored. */
  publishEvent(event: EventInput): Promise<PublishedEvent>;
}

const ENDPOINTS = '/v2/webhook-endpoints';

/** The functions over `call`, which sends a request and reads its JSON. */
export function webhookClient(call: <Result>(spec: RequestSpec) => Promise<Result>): WebhookClient {
  const endpoint = (id: string) => `${ENDPOINTS}/${encodeURIComponent(id)}`;
  const eventOf = (id: string, event: string) => `${endpoint(id)}/events/${encodeURIComponent(event)}`;
  return {
    listWebhookEndpoints: (query = {}) => call({ method: 'GET', path: ENDPOINTS, query: { ...query } }),
    createWebhookEndpoint: (input) => call({ method: 'POST', path: ENDPOINTS, json: input }),
    getWebhookEndpoint: (id) => call({ method: 'GET', path: endpoint(id) }),
    changeWebhookEndpoint: (id, change) => call({ method: 'PATCH', path: endpoint(id), json: change }),
    deleteWebhookEndpoint: (id) => call({ method: 'DELETE', path: endpoint(id) }),
    getWebhookEndpointSecret: (id) => call({ method: 'GET', path: `${endpoint(id)}/secret` }),
    rotateWebhookEndpointSecret: (id, overlapSeconds) =>
      call({
        method: 'POST',
        path: `${endpoint(id)}/rotate-secret`,
        json: overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds },
      }),
    testWebhookEndpoint: (id) => call({ method: 'POST', path: `${endpoint(id)}/test` }),
    listEventsOfWebhookEndpoint: (id, query = {}) =>
      call({ method: 'GET', path: `${endpoint(id)}/events`, query: { ...query } }),
    getEventOfWebhookEndpoint: (id, event) => call({ method: 'GET', path: eventOf(id, event) }),
    retryEventOfWebhookEndpoint: (id, event) => call({ method: 'POST', path: `${eventOf(id, event)}/retry` }),
    listWebhookEvents: (query = {}) =>
      call({ method: 'GET', path: '/v2/webhook-events', query: { ...query } }),
    publishEvent: (event) => call({ method: 'POST', path: '/v2/events', jsonText: eventJson(event) }),
  };
}

function eventJson({ dataText, ...event }: EventInput): string {
  return `${JSON.stringify(event).slice(0, -1)},"data":${dataText}}`;
}
