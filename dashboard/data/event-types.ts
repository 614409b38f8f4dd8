import type { EventType } from '../../src/client/api.ts';
import { useRead } from './queries.ts';

const query = { per_page: 100 };

/** All types of events that the caller sees: those of Payhook and at most 200 own ones, in three pages. */
export function useEventTypes() {
  const first = useRead('listEventTypes', { query });
  const pages = first.data?.pagination.pages ?? 0;
  const second = useRead('listEventTypes', { query: { ...query, page: 2 } }, { isEnabled: pages > 1 });
  const third = useRead('listEventTypes', { query: { ...query, page: 3 } }, { isEnabled: pages > 2 });
  const read = [first, second, third].slice(0, Math.max(pages, 1));
  const types: EventType[] | undefined = read.every(({ data }) => data)
    ? read.flatMap(({ data }) => data?.data ?? [])
    : undefined;
  return { types, error: read.find(({ error }) => error)?.error ?? null, refetch: first.refetch };
}
