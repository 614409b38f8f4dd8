import type { WebhookAttempt } from '../../../src/client/api.ts';
import { plain } from '../../parts/plain.ts';

const quoted = (text: string) => `'${plain(text).replaceAll("'", `'\\''`)}'`;

// headers that curl sets itself
const OWN = new Set(['host', 'content-length', 'connection', 'accept-encoding', 'transfer-encoding']);

/** An attempt as a curl command that repeats it. Control characters in it are escaped. */
export function curlOfAttempt({ url, request_headers }: WebhookAttempt, body: string): string {
  const headers = Object.entries(request_headers ?? { 'content-type': 'application/json' })
    .filter(([name]) => !OWN.has(name.toLowerCase()))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return ['curl -X POST', quoted(url), ...headers, `--data-raw ${quoted(body)}`].join(' ');
}
