import type { Client, WebhookEndpoint } from '../../client/client.ts';
import { CommandError } from '../command/errors.ts';

export const ENDPOINT_HELP = 'its id (we_…), or its URL if it is unique';

/** The URL of an endpoint, for people; a pull endpoint has none. */
export const placeOf = ({ url }: Pick<WebhookEndpoint, 'url'>): string => url ?? 'pull endpoint';

/**
 * The id of the endpoint with an id or a URL. An id is not looked up, because the log of a deleted endpoint can still be
 * read. Throws CommandError if none or several have the URL.
 */
export async function findEndpoint(client: Client, reference: string): Promise<string> {
  if (reference.startsWith('we_')) return reference;
  const found: WebhookEndpoint[] = [];
  for await (const endpoint of client.webhookEndpoints.list()) {
    if (endpoint.url !== null && isSameUrl(endpoint.url, reference)) found.push(endpoint);
  }
  const [one, ...others] = found;
  if (one === undefined) {
    throw new CommandError(`there is no webhook endpoint ${reference}: payhook webhooks list shows them`, {
      code: 'not_found',
      reason: 'resource_missing',
    });
  }
  if (others.length === 0) return one.id;
  const ids = found.map(({ id }) => id).join(', ');
  throw new CommandError(`${found.length} webhook endpoints have that URL, choose one by its id: ${ids}`);
}

/** `http://127.0.0.1:9000` and `http://127.0.0.1:9000/` are the same URL. */
function isSameUrl(one: string, other: string): boolean {
  return one === other || (URL.canParse(other) && new URL(one).href === new URL(other).href);
}
