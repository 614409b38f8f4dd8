import type { TSchema } from 'typebox';
import { type ListDefinition, type ListQuery, type Page, pageOf } from '../contract/lists.ts';
import type { Principal } from '../contract/route.ts';
import type { Reader, Tx } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { idOf } from '../kernel/ids.ts';
import { arrayOf, type Json, toJson } from '../kernel/json.ts';
import { EVENT_TYPES, type EventType } from '../outbox/event-types.ts';
import { covers } from '../outbox/subscriptions.ts';
import type { OwnTypeInput } from '../webhooks/types/record.ts';
import { type OwnTypeRow, ownType, ownTypeNames, ownTypes, putOwnType } from '../webhooks/types/service.ts';
import { eventSchema, exampleEvent, ownEventExample, ownEventSchema } from './catalogue.ts';
import type { EventTypeRecord } from './record.ts';

/** Most of the catalogue is code, so it is sorted and paged here instead of in the database. */
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
    origin: 'payhook',
    description: EVENT_TYPES[type],
    group: null,
    deprecation: null,
    schema: open(eventSchema(type)),
    example: exampleEvent(type),
    data_schema: null,
    last_violation: null,
  }),
}));
const ENTRY_OF = new Map(ENTRIES.map(({ type, json }) => [type, json]));

type Beholder = Pick<Principal, 'account' | 'portal'>;

/** Whether a caller sees an own type: a portal sees those that its link offers. */
const isSeenBy = ({ portal }: Beholder, type: string): boolean =>
  portal?.eventTypes?.some((entry) => covers(entry, type)) ?? true;

function ownEntry({ account, portal }: Beholder, row: OwnTypeRow): Json<EventTypeRecord> {
  const { type, description, group, deprecation, schema, example, violatedAt, violation } = row;
  const dataSchema = schema === null ? null : JSON.parse(schema);
  return toJson<EventTypeRecord>({
    object: 'event_type',
    type,
    origin: 'own',
    description,
    group,
    deprecation,
    schema: ownEventSchema(type, dataSchema),
    example: example === null ? null : ownEventExample(type, idOf('acc', account), JSON.parse(example)),
    data_schema: dataSchema,
    last_violation:
      violatedAt === null || violation === null || portal ? null : { at: violatedAt, message: violation },
  });
}

/** A type of Payhook or of the account. Throws `resource_missing`. */
export async function getEventType(
  db: Reader,
  caller: Beholder,
  type: string,
): Promise<Json<EventTypeRecord>> {
  const entry = ENTRY_OF.get(type);
  if (entry !== undefined) return entry;
  if (!isSeenBy(caller, type)) throw fail('resource_missing', 'no such event type');
  return ownEntry(caller, await ownType(db, caller.account, type));
}

/** Creates or replaces a type of the account. Throws as `putOwnType`. */
export async function putEventType(
  tx: Tx,
  caller: Beholder,
  type: string,
  input: OwnTypeInput,
): Promise<Json<EventTypeRecord>> {
  return ownEntry(caller, await putOwnType(tx, caller.account, type, input));
}

/** One page of the types that a caller sees, by name. */
export async function listEventTypes(
  db: Reader,
  caller: Beholder,
  list: ListQuery,
): Promise<Page<EventTypeRecord>> {
  const { page, perPage, sort, after } = list;
  const own = (await ownTypeNames(db, caller.account)).filter((type) => isSeenBy(caller, type));
  const types = [...ENTRY_OF.keys(), ...own].sort();
  const isDescending = sort.startsWith('-');
  if (isDescending) types.reverse();
  const last = after?.key[0] ?? '';
  const pages = Math.ceil(types.length / perPage);
  // a page number may exceed the range of JavaScript numbers
  const skipped = BigInt(page) > BigInt(pages) ? types.length : (Number(page) - 1) * perPage;
  const rest = after
    ? types.filter((type) => (isDescending ? type < last : type > last))
    : types.slice(skipped);
  const shown = rest.slice(0, perPage);
  const rows = await ownTypes(db, caller.account, shown);
  const entries = new Map(rows.map((row) => [row.type, ownEntry(caller, row)]));
  const data = shown.flatMap((type) => ENTRY_OF.get(type) ?? entries.get(type) ?? []);
  const next = rest.length > perPage ? [shown.at(-1) ?? null] : null;
  return pageOf(list, arrayOf(data), BigInt(types.length), next);
}
