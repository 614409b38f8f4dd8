import sql, { type Sql } from 'sql-template-tag';
import { namesOf } from '../../contract/fields.ts';
import type { Portal, Principal, Route } from '../../contract/route.ts';
import { maybeRow, type Reader } from '../../db/database.ts';
import { type Failure, fail } from '../../kernel/errors.ts';
import { uuidOf } from '../../kernel/ids.ts';
import { covers } from '../../outbox/subscriptions.ts';
import { ENDPOINT_FIELDS } from './fields.ts';
import type { EndpointChange, NewEndpoint } from './record.ts';

/** The condition of the live endpoints `e` that a portal reaches. The account is the caller's to check. */
export const reachOf = ({ endpoint, owner, isOfOwner }: Portal): Sql =>
  sql`e.deleted_at is null and e.owner is not distinct from ${owner} and (${isOfOwner} or e.id = ${endpoint})`;

interface Named {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
}

/**
 * Lets a portal's request pass only when it is about an endpoint that the portal reaches, and a consumer's only when it is
 * about its endpoint; every other caller's passes.
 * Throws `resource_missing` as for an endpoint that nobody has, or `invalid_query`.
 */
export async function checkReach(
  db: Reader,
  { account, portal, endpoint }: Principal,
  route: Pick<Route, 'portal'>,
  { params, query }: Named,
): Promise<void> {
  if (endpoint !== undefined && uuidOf('we', String(params.id)) !== endpoint)
    throw fail('resource_missing', 'no such webhook endpoint');
  if (portal === undefined || route.portal === 'own') return;
  const id = uuidOf('we', String(route.portal === 'path' ? params.id : query.webhook_endpoint_id));
  const found =
    id !== null &&
    (await maybeRow(
      db,
      sql`select from webhook_endpoints e where e.account_id = ${account} and e.id = ${id} and ${reachOf(portal)}`,
      'portal_reach',
    ));
  if (found) return;
  throw route.portal === 'path'
    ? fail('resource_missing', 'no such webhook endpoint')
    : fail('invalid_query', 'webhook_endpoint_id must name a webhook endpoint of the portal');
}

/** The fields that only the account sets. */
const OF_THE_ACCOUNT = namesOf(ENDPOINT_FIELDS, ({ isOfPortal }) => !isOfPortal);

const notInPortal = (message: string): Failure => fail('not_in_portal', message);

function refuseFieldsOfAccount(input: EndpointChange): void {
  const values = input as Readonly<Record<string, unknown>>;
  const field = OF_THE_ACCOUNT.find((name) => values[name] !== undefined);
  if (field) throw notInPortal(`${field} is not for a portal to set: leave it out`);
}

/**
 * What a caller creates: in a portal, an endpoint of its owner, with the filter of its link and some of the types of its
 * link. Throws `not_in_portal`, `invalid_event_type`.
 */
export function creationBy({ portal }: Principal, input: NewEndpoint): NewEndpoint {
  if (portal === undefined) return input;
  if (!portal.isOfOwner) throw notInPortal('the portal is of one endpoint alone: it makes and deletes none');
  refuseFieldsOfAccount(input);
  const { eventTypes, filter, owner } = portal;
  const event_types = input.event_types ?? (eventTypes && [...eventTypes]);
  refuseTypesBeyond(event_types, [eventTypes]);
  return { ...input, event_types, owner, filter: filter === null ? null : JSON.parse(filter) };
}

/**
 * Refuses a change that is not for a portal: fields of the account, and types beyond those that the endpoint has or the
 * link offers. What the link offers comes with a filter, so an endpoint with another filter gets none of it. Throws
 * `not_in_portal`, `invalid_event_type`.
 */
export function checkChangeBy(
  { portal }: Principal,
  input: EndpointChange,
  before: { readonly event_types: readonly string[] | null; readonly filter: string | null },
): void {
  if (portal === undefined) return;
  refuseFieldsOfAccount(input);
  if (input.event_types === undefined) return;
  const offers =
    before.filter === portal.filter ? [before.event_types, portal.eventTypes] : [before.event_types];
  refuseTypesBeyond(input.event_types, offers);
}

/** Refuses the deletion of the only endpoint of a portal. Throws `not_in_portal`. */
export function checkDeletionBy({ portal }: Principal): void {
  if (portal && !portal.isOfOwner)
    throw notInPortal('the portal is of one endpoint alone: it makes and deletes none');
}

/** Throws `invalid_event_type` unless each of `wanted` is within one of the offers; null = all types. */
function refuseTypesBeyond(
  wanted: readonly string[] | null,
  offers: readonly (readonly string[] | null)[],
): void {
  if (offers.includes(null)) return;
  const offered = [...new Set(offers.flatMap((offer) => offer ?? []))];
  const beyond = wanted?.findIndex((type) => !offered.some((entry) => covers(entry, type))) ?? 0;
  if (beyond === -1) return;
  const field = wanted === null ? 'event_types' : `event_types[${beyond}]`;
  throw fail('invalid_event_type', `${field} must be among the types of this portal: ${offered.join(', ')}`);
}
