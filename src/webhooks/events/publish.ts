import { createHash } from 'node:crypto';
import type { Tx } from '../../db/database.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { StrictJson } from '../../kernel/strict-json.ts';
import type { TraceContext } from '../../kernel/trace.ts';
import { publishForeign } from '../../outbox/queue.ts';
import { typeProblem } from '../types/service.ts';
import type { Event, NewEvent } from './record.ts';
import { type Taken, takeExternalIds } from './store.ts';

/** A request to publish one of the platform's own events. */
export interface Publication {
  readonly account: AccountId;
  readonly body: NewEvent;
  /** The body as parsed: its `data` is passed on unchanged. */
  readonly json: StrictJson;
  /** The trace it continues; null = none. */
  readonly trace: TraceContext | null;
  /** The prefix of field names in messages, such as `events[3].`. Default: none. */
  readonly at?: string;
}

/** The event as sent. Publishing it again under the same `external_id` returns the stored one. */
export interface Published {
  readonly json: Json<Event>;
  readonly isNew: boolean;
}

/**
 * Publishes events of any platforms' accounts. No two may share both account and `external_id`. Returns, for each, the
 * published event, or why it is refused: `invalid_event_type`, `reserved_event_type`, `duplicate_external_id`,
 * `event_owner_missing`. Throws `payload_too_large`.
 */
export async function publishPlatformEvents(
  tx: Tx,
  publications: readonly Publication[],
): Promise<(Published | Failure)[]> {
  const refused = new Map(publications.map((one) => [one, typeProblem(one.body.type, one.at)]));
  const fine = publications.filter((one) => !refused.get(one));
  const taken = await takeIds(tx, fine);
  const fresh = fine.filter((one) => !taken.get(one)?.earlier);
  const payloads = await store(tx, fresh, taken);
  const results = new Map(
    payloads.map((sent, index) => [
      fresh[index] as Publication,
      sent instanceof Failure ? sent : { json: sent, isNew: true },
    ]),
  );
  return publications.map(
    (one) => refused.get(one) ?? results.get(one) ?? again(one, taken.get(one) as Taken),
  );
}

async function takeIds(tx: Tx, publications: readonly Publication[]): Promise<Map<Publication, Taken>> {
  const named = publications.flatMap((publication) => {
    const { account, body } = publication;
    const { external_id: externalId } = body;
    return externalId === undefined
      ? []
      : [{ publication, account, externalId, hash: contentHash(publication) }];
  });
  if (named.length === 0) return new Map();
  const taken = await takeExternalIds(tx, named);
  return new Map(named.map(({ publication }, index) => [publication, taken[index] as Taken]));
}

/** The event published before under the `external_id`, or the refusal. */
function again(publication: Publication, { earlier }: Taken): Published | Failure {
  if (earlier?.hash.equals(contentHash(publication))) return { json: earlier.payload, isNew: false };
  return contradiction(publication);
}

/** `duplicate_external_id`: another event with this `external_id` has different content. */
export function contradiction({ body, at = '' }: Publication): Failure {
  return fail(
    'duplicate_external_id',
    `${at}external_id: ${body.external_id} was published with different content`,
  );
}

async function store(
  tx: Tx,
  publications: readonly Publication[],
  taken: ReadonlyMap<Publication, Taken>,
): Promise<(Json<Event> | Failure)[]> {
  if (publications.length === 0) return [];
  const events = publications.map((one) => ({
    account: one.account,
    type: one.body.type,
    id: taken.get(one)?.id ?? null,
    body: one.json.text,
    orderingKey: one.body.ordering_key ?? null,
    owner: one.body.owner ?? null,
    tags: one.body.tags ?? [],
    trace: one.trace,
    at: one.at ?? '',
  }));
  return publishForeign(tx, events);
}

/** Equal content has an equal hash: the order of keys does not matter, but every digit of a number does. */
export function contentHash({
  body: { type, data, ordering_key: key, owner, tags },
  json,
}: Publication): Buffer {
  // what is not given at the end is left out, as before it existed
  const content = [type, data, key, owner, tags?.length ? tags : undefined];
  while (content.at(-1) === undefined) content.pop();
  return createHash('sha256')
    .update(json.roundedNumbers.length > 0 ? json.canonical() : sortedJson(content))
    .digest();
}

/** The hashed text of content without rounded numbers. It must never change, so that stored hashes still match. */
function sortedJson(content: unknown): string {
  return JSON.stringify(content, (_, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
