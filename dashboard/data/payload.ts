import { useQuery } from '@tanstack/react-query';
import type { ApiError } from '../../src/client/errors.ts';
import { callText, type Input, type Result } from './api.ts';
import { type Live, refetchInterval } from './queries.ts';

/** The operations whose record has a payload. */
type WithPayload = 'getEvent' | 'getEventOfWebhookEndpoint';

/**
 * Reads an event with the text of its payload, which receivers check signatures against. `JSON.parse` would round
 * numbers, rewrite `1e3` and move keys that are digits to the front.
 */
export function useEventWithPayload<Id extends WithPayload>(
  id: Id,
  input: Input<Id>,
  { isLive = false, isEnabled = true }: { isLive?: Live; isEnabled?: boolean } = {},
) {
  const { data, error, refetch } = useQuery<{ event: Result<Id>; payload: string }, ApiError>({
    queryKey: [id, 'text', input],
    enabled: isEnabled,
    refetchInterval: refetchInterval(isLive),
    queryFn: async ({ signal }) => {
      const text = await callText(id, input, { signal });
      return { event: JSON.parse(text) as Result<Id>, payload: payloadIn(text) };
    },
  });
  return { event: data?.event, payload: data?.payload, error, refetch };
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}:,]|[^\s"[\]{}:,]+/g;

/** The text of the member `payload` in the text of a record. */
function payloadIn(record: string): string {
  let depth = 0;
  let last = '';
  let start = -1;
  for (const { 0: token, index } of record.matchAll(TOKEN)) {
    if (depth === 1 && start !== -1 && (token === ',' || token === '}')) return record.slice(start, index);
    if (depth === 1 && token === ':' && last === '"payload"') start = index + 1;
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    last = token;
  }
  throw new SyntaxError('the record has no payload');
}
