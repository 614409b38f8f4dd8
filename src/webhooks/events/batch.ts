import type { Tx } from '../../db/database.ts';
import { Failure, failItems } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { arrayOf, extended, type Json, toJson } from '../../kernel/json.ts';
import { itemsOfList } from '../../kernel/long-json.ts';
import type { StrictJson } from '../../kernel/strict-json.ts';
import { typeProblem } from '../types/service.ts';
import {
  contentHash,
  contradiction,
  type Publication,
  type Published,
  publishPlatformEvents,
} from './publish.ts';
import type { Event, EventBatch, EventBatchItem, NewEvent } from './record.ts';

/** A request to publish several of the platform's own events. */
interface Batch {
  readonly account: AccountId;
  readonly body: { readonly events: readonly NewEvent[] };
  /** The body as parsed: the `data` of each event is passed on unchanged. */
  readonly json: StrictJson;
}

/**
 * Publishes all events of a request or none, in a constant number of statements. Ordered endpoints get them in the order
 * of the list. An event that was published before under its `external_id`, or occurs earlier in the list, is returned.
 * Throws `invalid_items` for types, `event_owner_missing` and `duplicate_external_id`, which name every bad event;
 * `payload_too_large`, which names one; `resource_missing` if the account no longer exists.
 */
export async function publishBatch(tx: Tx, batch: Batch): Promise<Json<EventBatch>> {
  const publications = publicationsOf(tx, batch);
  refuse(
    publications.map((one) => typeProblem(one.body.type, one.at)),
    'invalid_items',
  );
  const firsts = firstOfEach(publications);
  const fresh = publications.filter((one) => firsts.get(one) === one);
  const results = await publishPlatformEvents(tx, fresh);
  const resultOf = new Map(fresh.map((one, index) => [one, results[index] as Published | Failure]));
  refuse(
    publications.map((one) => ownerProblem(resultOf.get(one))),
    'event_owner_missing',
  );
  const published = publications.map((one) => {
    const first = firsts.get(one) as Publication;
    const result = resultOf.get(first) as Published | Failure;
    if (first === one) return result;
    const isSame = !(result instanceof Failure) && contentHash(one).equals(contentHash(first));
    return isSame ? { ...result, isNew: false } : contradiction(one);
  });
  refuse(published, 'duplicate_external_id');
  return answerOf(published as Published[]);
}

function publicationsOf(tx: Tx, { account, body, json }: Batch): Publication[] {
  const items = itemsOfList(json, 'events');
  return body.events.map((event, index) => ({
    account,
    body: event,
    json: items[index] as StrictJson,
    trace: tx.trace,
    at: `events[${index}].`,
  }));
}

const ownerProblem = (result: Published | Failure | undefined): Failure | null =>
  result instanceof Failure && result.reason === 'event_owner_missing' ? result : null;

/** Maps each event to the first of the list with its `external_id`, or to itself. */
function firstOfEach(publications: readonly Publication[]): Map<Publication, Publication> {
  const byId = new Map<string, Publication>();
  return new Map(
    publications.map((one) => {
      const { external_id: id } = one.body;
      if (id === undefined) return [one, one];
      const first = byId.get(id) ?? one;
      byId.set(id, first);
      return [one, first];
    }),
  );
}

/** Throws if any event of the list is refused. */
function refuse(
  results: readonly (Published | Failure | null)[],
  reason: 'invalid_items' | 'event_owner_missing' | 'duplicate_external_id',
): void {
  const failures = results.filter((result) => result instanceof Failure);
  const gone = failures.find((failure) => failure.reason === 'resource_missing');
  if (gone) throw gone;
  if (failures.length === 0) return;
  throw failItems(
    failures.map(({ message }) => message),
    results.length,
    reason,
  );
}

function answerOf(published: readonly Published[]): Json<EventBatch> {
  const items = published.map(({ json, isNew }, index) =>
    extended<Omit<EventBatchItem, 'event'>, EventBatchItem>(toJson({ index, status: isNew ? 201 : 200 }), {
      event: json satisfies Json<Event>,
    }),
  );
  return extended(toJson<Pick<EventBatch, 'object'>>({ object: 'event_batch' }), { items: arrayOf(items) });
}
