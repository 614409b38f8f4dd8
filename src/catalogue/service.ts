import type { TSchema } from 'typebox';
import type { ListDefinition, ListQuery, Page } from '../contract/lists.ts';
import { type Json, toJson } from '../kernel/json.ts';
import { EVENT_TYPES, type EventType } from '../outbox/event-types.ts';
import { eventSchema, exampleEvent } from './catalogue.ts';
import type { EventTypeRecord } from './record.ts';

/** The catalogue is code: it is sorted and cut here, not by the database. */
export const eventTypeList: ListDefinition = {
  id: 'type',
  sort: { type: 'type' },
  defaultSort: 'type',
  filters: {},
};

// A receiver that checks what it gets must let fields pass that are added later.
const open = (schema: TSchema): Record<string, unknown> =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'additionalProperties' && value === false ? undefined : value,
    ),
  );

const ENTRIES: readonly Json<EventTypeRecord>[] = (Object.keys(EVENT_TYPES) as EventType[])
  .toSorted()
  .map((type) =>
    toJson<EventTypeRecord>({
      object: 'event_type',
      type,
      description: EVENT_TYPES[type],
      schema: open(eventSchema(type)),
      example: exampleEvent(type),
    }),
  );

/** One page of the catalogue, in the order of the names. */
export function listEventTypes({ page, perPage, sort }: ListQuery): Page<EventTypeRecord> {
  const sorted = sort.startsWith('-') ? ENTRIES.toReversed() : ENTRIES;
  const pages = Math.ceil(sorted.length / perPage);
  // a page may lie further out than a number can say
  const start = BigInt(page) > BigInt(pages) ? sorted.length : (Number(page) - 1) * perPage;
  const data = sorted.slice(start, start + perPage).join(',');
  const pagination = `{"page":${page},"limit":${perPage},"total":${sorted.length},"pages":${pages}}`;
  return { json: `{"data":[${data}],"pagination":${pagination}}`, total: BigInt(sorted.length) };
}
