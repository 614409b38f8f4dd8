import type { TSchema } from 'typebox';
import { type ListDefinition, type ListQuery, type Page, pageOf } from '../contract/lists.ts';
import { arrayOf, type Json, toJson } from '../kernel/json.ts';
import { EVENT_TYPES, type EventType } from '../outbox/event-types.ts';
import { eventSchema, exampleEvent } from './catalogue.ts';
import type { EventTypeRecord } from './record.ts';

/** The catalogue is code, so it is sorted and paged here instead of in the database. */
export const eventTypeList: ListDefinition = {
  id: 'type',
  sort: { type: 'type' },
  defaultSort: 'type',
  filters: {},
};

// Receivers that validate must accept fields added later.
const open = (schema: TSchema): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  );

interface Entry {
  readonly type: string;
  readonly json: Json<EventTypeRecord>;
}

const ENTRIES: readonly Entry[] = (Object.keys(EVENT_TYPES) as EventType[]).toSorted().map((type) => ({
  type,
  json: toJson<EventTypeRecord>({
    object: 'event_type',
    type,
    description: EVENT_TYPES[type],
    schema: open(eventSchema(type)),
    example: exampleEvent(type),
  }),
}));

/** One page of the catalogue, by name. */
export function listEventTypes(list: ListQuery): Page<EventTypeRecord> {
  const { page, perPage, sort, after } = list;
  const isDescending = sort.startsWith('-');
  const sorted = isDescending ? ENTRIES.toReversed() : ENTRIES;
  const last = after?.key[0] ?? '';
  const isBehind = ({ type }: Entry) => (isDescending ? type < last : type > last);
  const pages = Math.ceil(sorted.length / perPage);
  // a page number may exceed the range of JavaScript numbers
  const skipped = BigInt(page) > BigInt(pages) ? sorted.length : (Number(page) - 1) * perPage;
  const rest = after ? sorted.filter(isBehind) : sorted.slice(skipped);
  const shown = rest.slice(0, perPage);
  const next = rest.length > perPage ? [shown.at(-1)?.type ?? null] : null;
  const data = arrayOf(shown.map(({ json }) => json));
  return pageOf(list, data, BigInt(sorted.length), next);
}
