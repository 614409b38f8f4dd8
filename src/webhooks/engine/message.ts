import type { TraceContext } from '../../kernel/trace.ts';
import type { Leased } from '../../outbox/hand-over.ts';
import type { Opened } from './keyring.ts';

type Headers = Readonly<Record<string, string>>;

/** A message to the endpoint of a delivery, before it is signed. */
export interface Unsigned {
  readonly id: string;
  readonly body: string;
  /** Further headers, or replacements; null = none. */
  readonly added: Headers | null;
  readonly trace: TraceContext | null;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly isBatch?: boolean;
}

/** Signs a message. Returns its headers, and the same as the log shows them. */
export function signed(
  { url }: Pick<Leased, 'url'>,
  { id, body, added, trace, timestamp, isBatch = false }: Unsigned,
  { signers, companions, headers, shown }: Opened,
): { readonly headers: Headers; readonly shown: Headers } {
  const own: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Payhook/2.0 (webhooks)',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
  };
  if (added !== null) Object.assign(own, added);
  if (headers?.traceparent === undefined) Object.assign(own, traceHeaders(trace, headers));
  const message = { id, timestamp, body, url };
  for (const signer of signers) own[signer.header] = signer.valueOf(message);
  // they apply to a single event
  const further = isBatch ? undefined : companions?.(message);
  return {
    headers: further || headers ? { ...further, ...headers, ...own } : own,
    shown: further || shown ? { ...further, ...shown, ...own } : own,
  };
}

/** The headers of a trace. A `tracestate` among the endpoint's own headers is kept. */
function traceHeaders(trace: TraceContext | null, headers: Headers | null): Record<string, string> {
  if (trace === null) return {};
  const { parent: traceparent, state } = trace;
  return state === null || headers?.tracestate !== undefined
    ? { traceparent }
    : { traceparent, tracestate: state };
}
