import type { WebhookAttempt } from '../../../src/client/api.ts';
import { plain } from '../../parts/plain.ts';

const quoted = (text: string) => `'${plain(text).replaceAll("'", `'\\''`)}'`;

// headers that curl sets itself
const OWN = new Set(['host', 'content-length', 'connection', 'accept-encoding', 'transfer-encoding']);

const SIZE = 'webhook-batch-size';

/**
 * An attempt as a curl command that repeats it, of a batch with this event alone. Control characters in it are escaped.
 */
export function curlOfAttempt({ url, request_headers, batch }: WebhookAttempt, event: string): string {
  const body = batch === null ? event : `[${event}]`;
  const headers = Object.entries(request_headers ?? { 'content-type': 'application/json' })
    .filter(([name]) => !OWN.has(name.toLowerCase()))
    .map(([name, value]) => `-H ${quoted(`${name}: ${name === SIZE ? 1 : value}`)}`);
  return ['curl -X POST', quoted(url ?? ''), ...headers, `--data-raw ${quoted(body)}`].join(' ');
}
