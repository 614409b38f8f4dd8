/** Where a piece of work belongs in a trace: what the two headers of W3C Trace Context say. */
export interface TraceContext {
  /** `traceparent`. */
  readonly parent: string;
  /** `tracestate`: what systems of tracing note for themselves, passed on as it came; null = nothing. */
  readonly state: string | null;
}

// Version 00 of W3C Trace Context, whose ids are not all zeros.
const PARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** A member of `tracestate` (section 3.3.1.3): a key and a value, or nothing. */
const MEMBER = /^[\t ]*(?:[a-z0-9][a-z0-9_\-*/@]{0,255}=[ !-+\--<>-~]{0,255}[!-+\--<>-~][\t ]*)?$/;
const MOST_MEMBERS = 32;
/** What everybody must pass on (section 3.3.1.5); longer ones are dropped, as OpenTelemetry does. */
const LONGEST_STATE = 512;

/**
 * The trace that a request says it belongs to; null when its `traceparent` is missing or not well-formed. A `tracestate`
 * that is not well-formed does not count.
 */
export function traceOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): TraceContext | null {
  const { traceparent: parent, tracestate: state } = headers;
  if (typeof parent !== 'string' || !PARENT.test(parent)) return null;
  return { parent, state: typeof state === 'string' && isState(state) ? state : null };
}

function isState(text: string): boolean {
  if (text === '' || text.length > LONGEST_STATE) return false;
  const members = text.split(',');
  return members.length <= MOST_MEMBERS && members.every((member) => MEMBER.test(member));
}
