import { createHmac } from 'node:crypto';

/**
 * The `webhook-signature` header of Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`, one
 * for each key, with a space between: during a rotation the old key and the new one both sign. `timestamp` is in
 * seconds since 1970.
 */
export function sign(keys: readonly Buffer[], id: string, timestamp: number, body: string): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}
