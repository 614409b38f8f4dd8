import { expect } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { apiOf } from '../support/api.ts';
import { onSignal } from '../support/signals.ts';
import { type Endpoint, type Stage, uuidOf } from './support.ts';

/** A claimed event, as the API shows it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Claimed = any;

/** Creates a pull endpoint, in the account of the stage or in that of another client. */
export async function pullEndpoint(
  { api }: Pick<Stage, 'api'>,
  fields: object = {},
  of: Api = api,
): Promise<Endpoint> {
  const body = { delivery: 'pull', event_types: ['order.*'], ...fields };
  const made = await of.post('/v2/webhook-endpoints', body);
  expect(made.status, made.text).toBe(201);
  const { id, secret } = made.body;
  return { id, uuid: uuidOf(id), secret, path: `/v2/webhook-endpoints/${id}` };
}

/** A client with the token of a pull endpoint. */
export async function consumerOf(api: Api, { path }: Endpoint, body?: object): Promise<Api> {
  const made = await api.post(`${path}/token`, body);
  expect(made.status, made.text).toBe(201);
  return apiOf(api.url, made.body.token);
}

/** Claims events; returns them. */
export async function claim(api: Api, { path }: Endpoint, body: object = {}): Promise<Claimed[]> {
  const { status, text, body: claimed } = await api.post(`${path}/claims`, body);
  expect(status, text).toBe(200);
  return claimed.items;
}

/** Acknowledges claimed events; returns the results in their order. */
export async function acknowledge(
  api: Api,
  { path }: Endpoint,
  events: readonly Claimed[],
  fields: object = { status: 'delivered' },
): Promise<string[]> {
  const items = events.map(({ id, lease_id }) => ({ id, lease_id, ...fields }));
  const { status, text, body }: Answer = await api.post(`${path}/acknowledgements`, { items });
  expect(status, text).toBe(200);
  expect(body.items.map(({ id }: Claimed) => id)).toEqual(events.map(({ id }) => id));
  return body.items.map(({ result }: Claimed) => result);
}

/** Ends all leases of consumers, as if their time had passed, and waits until a worker has noticed. */
export async function letLeasesEnd({ world }: Pick<Stage, 'world'>, { uuid }: Endpoint): Promise<void> {
  await world.query('update queue set due_at = now() where endpoint_id = $1 and claim is not null', [uuid]);
  await onSignal(world, 'settled', 'the ended leases to be written', async () => {
    const held = await world.query('select from queue where endpoint_id = $1 and claim is not null', [uuid]);
    return held.length === 0;
  });
}
