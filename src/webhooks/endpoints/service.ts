import { isDeepStrictEqual } from 'node:util';
import type { Env } from '../../contract/env.ts';
import type { Principal } from '../../contract/route.ts';
import { CURRENT_VERSION } from '../../db/api-versions.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type EndpointId, type EventId, idOf, uuidOf } from '../../kernel/ids.ts';
import { fromJson, type Json, toJson } from '../../kernel/json.ts';
import type { StrictJson } from '../../kernel/strict-json.ts';
import { parseInstant } from '../../kernel/time.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import { nameOf, notify } from '../../notices/notices.ts';
import { judgeWaiting } from '../../outbox/cutoffs.ts';
import { endDeleted } from '../../outbox/ending.ts';
import { releaseUnordered } from '../../outbox/keys.ts';
import { publish, publishTest } from '../../outbox/queue.ts';
import { refuseTooManySearches } from '../../outbox/searches.ts';
import { placeOf } from '../../outbox/secrets.ts';
import { note } from '../../people/audit/service.ts';
import { testFilter } from '../filters/judge.ts';
import type { FilterTest, FilterTestInput } from '../filters/record.ts';
import { ownTypes } from '../types/service.ts';
import { isEventType, lacksAffiliates, needsAffiliates, subscriptionProblem } from '../types/types.ts';
import type { Columns } from './columns.ts';
import { setContact } from './contact.ts';
import { changedEgress, egressColumns, openEgress, readsAlong } from './egress.ts';
import { columnsOfFields } from './fields.ts';
import { changedHeaders, type OwnHeaders } from './headers.ts';
import { checkOwnerChange, checkRoom } from './owner.ts';
import { checkChangeBy, checkDeletionBy, creationBy } from './portal.ts';
import { checkPullScheme, pullColumns, refuseRequestFields } from './pull.ts';
import {
  type ChangedWebhookEndpoint,
  type EndpointChange,
  type NewEndpoint,
  type NewWebhookEndpoint,
  type TestEvent,
  type WebhookEndpoint,
  withNewSecret,
  withSecret,
} from './record.ts';
import { checkBatchScheme, checkHeaderNames, newSignatures, signatureChange } from './signatures.ts';
import {
  type EndpointRow,
  endpointRow,
  idByExternalId,
  insertEndpoint,
  lockAndCount,
  lockEndpoint,
  lockForEvent,
  lockOthers,
  markDeleted,
  markDisabled,
  markEnabled,
  markTold,
  newEndpointId,
  readEndpoint,
  typesWaiting,
  updateEndpoint,
} from './store.ts';
import { urlColumns } from './url.ts';

/** Who asks, and what is needed to handle secrets and addresses. */
export interface Caller extends Pick<Env, 'vault' | 'addresses' | 'mostEndpoints' | 'authorizeUrl'> {
  readonly account: AccountId;
  readonly principal: Principal;
  /** The audit log names it. */
  readonly requestId: string;
}

/** The refusal of an id that is no webhook endpoint of the account. */
export const missingEndpoint = () => fail('resource_missing', 'no such webhook endpoint');

/** The UUID of an endpoint id. Throws `resource_missing` for an ill-formed one. */
export function endpointUuid(id: string): EndpointId {
  const uuid = uuidOf('we', id);
  if (uuid === null) throw missingEndpoint();
  return uuid;
}

/** A live pull endpoint by its id. Throws `resource_missing`, `not_a_pull_endpoint`. */
export async function pullEndpoint(
  tx: Tx,
  account: AccountId,
  id: string,
  { locks = false }: { locks?: boolean } = {},
): Promise<{ readonly endpoint: EndpointId; readonly row: EndpointRow }> {
  const endpoint = endpointUuid(id);
  const row = await (locks ? lockEndpoint : endpointRow)(tx, account, endpoint);
  if (row === null) throw missingEndpoint();
  if (!row.pull)
    throw fail(
      'not_a_pull_endpoint',
      'the webhook endpoint has a URL, and its events are sent there: create one with delivery: pull',
    );
  return { endpoint, row };
}

type Beholder = Pick<Principal, 'account' | 'portal'>;

async function recordOf(db: Reader, caller: Beholder, endpoint: EndpointId): Promise<Json<WebhookEndpoint>> {
  const json = await readEndpoint(db, caller, endpoint);
  if (json === null) throw missingEndpoint();
  return json;
}

/** The record of an endpoint as a caller sees it. Throws `resource_missing`. */
export function getEndpoint(db: Reader, caller: Beholder, id: string): Promise<Json<WebhookEndpoint>> {
  return recordOf(db, caller, endpointUuid(id));
}

/**
 * Creates an endpoint; the response has its signing secret. Throws `invalid_url`, `invalid_event_type`,
 * `invalid_header`, `invalid_signing`, `invalid_secret`, `invalid_proxy`, `invalid_client_certificate`,
 * `invalid_client_credentials`, `insufficient_scope`, `too_many_endpoints`, `duplicate_external_id`; in a portal also `not_in_portal`.
 */
export async function createEndpoint(
  tx: Tx,
  caller: Caller,
  asked: NewEndpoint,
): Promise<Json<NewWebhookEndpoint>> {
  const { id: endpoint, now } = await newEndpointId(tx);
  const { vault, account, principal } = caller;
  const input = creationBy(principal, asked);
  checkSubscription(principal, input.event_types ?? null);
  const count = await lockAndCount(tx, account, input.owner ?? null);
  checkRoom(principal, count);
  const { mostEndpoints } = caller;
  if (count.all >= mostEndpoints) {
    throw fail(
      'too_many_endpoints',
      `the account has ${count.all} webhook endpoints, and MAX_WEBHOOK_ENDPOINTS allows ${mostEndpoints}: delete one first`,
    );
  }
  await refuseTaken(tx, account, input.external_id);
  const key = await sealingKey(tx);
  const { secret, columns } = newSignatures(input, { seal: sealing(caller, endpoint, key), now });
  const { addresses } = caller;
  const egress = changedEgress(input, {}, { addresses, nowMs: msOf(now), isMoved: false });
  const all = {
    api_version: CURRENT_VERSION,
    ...(await columnsOf(tx, endpoint, input, { caller, headersBefore: {} })),
    ...pullColumns(input),
    ...columns,
    ...egressColumns(egress, { account, vault, endpoint, key }),
  };
  checkHeaderNames(all, null, egress);
  checkBatchScheme(all, null);
  checkPullScheme(all, null);
  await insertEndpoint(tx, account, endpoint, all);
  await setContact(tx, caller, endpoint, { given: input.contact_email, before: null });
  if (input.filter) await refuseTooManySearches(tx, account);
  if (input.status === 'disabled') await markDisabled(tx, account, endpoint, 'manual');
  return withSecret(await recordOf(tx, principal, endpoint), secret);
}

/** Refuses an external_id that another endpoint has, while nobody else can take it. Throws `duplicate_external_id`. */
async function refuseTaken(tx: Tx, account: AccountId, externalId: string | null | undefined): Promise<void> {
  const other = externalId ? await idByExternalId(tx, account, externalId) : null;
  if (other !== null) {
    throw fail('duplicate_external_id', `external_id: the webhook endpoint ${idOf('we', other)} has it`);
  }
}

/** An endpoint after a change. */
export interface ChangedEndpoint {
  /** With its signing secret if the change made a new one. */
  readonly json: Json<ChangedWebhookEndpoint>;
  /** Names of the headers that are no longer sent because the origin changed. */
  readonly dropped: readonly string[];
}

/**
 * Changes the named fields. Enabling makes everything that was held due, or discards it. Header values and client credentials are removed
 * when the origin changes, because whoever may change the URL could read what is sent at the new one, and likewise with
 * another proxy that reads along. With a scheme that cannot use the secret there is, a new one is made. Throws as
 * `createEndpoint`, and `endpoint_owner_fixed`.
 */
export async function changeEndpoint(
  tx: Tx,
  caller: Caller,
  id: string,
  input: EndpointChange,
): Promise<ChangedEndpoint> {
  const { account, principal, vault } = caller;
  const endpoint = endpointUuid(id);
  // what compares it with others locks the account first: creation and PUT do too
  if (input.owner || input.external_id || input.filter) await lockOthers(tx, account);
  const before = await lockEndpoint(tx, account, endpoint);
  if (before === null) throw missingEndpoint();
  if (input.held !== undefined && input.status !== 'enabled')
    throw fail('invalid_body', 'held needs status: enabled');
  checkChangeBy(principal, input, before);
  if (before.pull) refuseRequestFields(input);
  // a credential that may not subscribe to something may not redirect it either, whether it comes later or
  // waits already
  checkSubscription(principal, before.event_types);
  if (input.event_types !== undefined) checkSubscription(principal, input.event_types);
  if (!principal.scopes.has('affiliates')) {
    checkSubscription(principal, await typesWaiting(tx, account, endpoint));
  }
  await checkOwnerChange(tx, principal, input, before);
  if (input.external_id !== before.external_id) await refuseTaken(tx, account, input.external_id);
  const { url, ...others } = input;
  // sending the whole record back does not count as choosing a URL
  const isSame = url === before.url && principal.kind !== 'operator';
  const named: EndpointChange = isSame ? others : input;
  const egressBefore = openEgress(caller, endpoint, before.egress_sealed);
  const isMoved =
    (named.url !== undefined && originOf(named.url) !== originOf(before.url)) ||
    readsAlong(input, egressBefore, named.url ?? before.url);
  const headersBefore = isMoved ? {} : openHeaders(caller, endpoint, before);
  const wanted = isMoved ? { headers: {}, ...named } : named;
  const open = (sealed: Buffer) => vault.open(sealed, placeOf(account, endpoint, 'secret'));
  const key = await sealingKey(tx);
  const { addresses } = caller;
  const egress = changedEgress(input, egressBefore, { addresses, nowMs: msOf(before.now), isMoved });
  const signatures = signatureChange(input, before, { open, seal: sealing(caller, endpoint, key) });
  const columns = {
    ...(await columnsOf(tx, endpoint, wanted, { caller, headersBefore, isSealed: !isMoved })),
    ...signatures.columns,
    ...(isDeepStrictEqual(egress, egressBefore)
      ? {}
      : egressColumns(egress, { account, vault, endpoint, key })),
  };
  checkHeaderNames(columns, before, egress);
  checkBatchScheme(columns, before);
  checkPullScheme(columns, before);
  if (Object.keys(columns).length > 0) await updateEndpoint(tx, account, endpoint, columns);
  await setContact(tx, caller, endpoint, { given: input.contact_email, before: before.contact_email });
  if (input.filter) await refuseTooManySearches(tx, account);
  // the first slice of what waits behind others; workers do the rest
  if (before.ordered && input.ordered === false) await releaseUnordered(tx);
  const after = (columns.header_names as string[] | undefined) ?? before.header_names;
  const dropped = isMoved ? before.header_names.filter((name) => !after.includes(name)) : [];
  if (input.client_credentials === undefined && egressBefore.credentials && !egress.credentials)
    dropped.push('authorization');
  if (dropped.length > 0) {
    const target = idOf('we', endpoint);
    await note(tx, principal, { action: 'dropWebhookEndpointHeaders', target, requestId: caller.requestId });
  }
  if (input.status === 'disabled') await disableEndpoint(tx, { account, endpoint, reason: 'manual' });
  if (input.status === 'enabled' && before.disabled_at !== null)
    await markEnabled(tx, account, endpoint, input.held);
  // what waits may be older than the endpoint wants now
  if (input.max_age || input.held === 'discard') await judgeWaiting(tx, account, endpoint);
  const json = await recordOf(tx, principal, endpoint);
  return { json: withNewSecret(json, signatures.newSecret), dropped };
}

const msOf = (instant: string) => parseInstant(instant) ?? 0;
const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : null);

/**
 * Disables an endpoint (UUID) and notifies the account's other endpoints, except those of another owner, and people unless
 * one of them did it; false when it is disabled already.
 */
export async function disableEndpoint(
  tx: Tx,
  {
    account,
    endpoint,
    reason,
  }: { account: AccountId; endpoint: EndpointId; reason: 'manual' | 'failing' | 'gone' | 'requested' },
): Promise<boolean> {
  const before = await lockForEvent(tx, account, endpoint);
  if (before === null || !(await markDisabled(tx, account, endpoint, reason))) return false;
  const data = await lockForEvent(tx, account, endpoint);
  if (data === null) throw missingEndpoint();
  const { url, owner } = fromJson(data);
  const subject = { endpoint, owner };
  await publish(tx, { account, type: 'webhook_endpoint.disabled', data, before, subject });
  if (reason !== 'manual') {
    await markTold(tx, account, endpoint);
    await notify(tx, [
      {
        account,
        kind: 'endpoint_disabled',
        subject: idOf('we', endpoint),
        data: { host: nameOf(url, endpoint), reason },
      },
    ]);
  }
  return true;
}

/**
 * Deletes an endpoint: nothing more is sent there, and its log stays until retention. Throws
 * `resource_missing`, `not_in_portal`.
 */
export async function deleteEndpoint(tx: Tx, principal: Principal, id: string): Promise<void> {
  checkDeletionBy(principal);
  if (!(await markDeleted(tx, principal.account, endpointUuid(id)))) throw missingEndpoint();
  // the first slice of what waits there; workers do the rest
  await endDeleted(tx);
}

/**
 * Sends a test event to this endpoint only, whatever it subscribes to. `json` is the body that `data` came in.
 * Returns the UUIDs of the endpoint and the event. Throws `resource_missing`, `endpoint_disabled`,
 * `invalid_event_type`, `payload_too_large`, `insufficient_scope`.
 */
export async function testEndpoint(
  tx: Tx,
  { account, principal }: Pick<Caller, 'account' | 'principal'>,
  id: string,
  { type = 'webhook_endpoint.test', data, changes, json }: TestEvent & { readonly json: StrictJson },
): Promise<{ endpoint: EndpointId; event: EventId }> {
  const endpoint = endpointUuid(id);
  const row = await lockEndpoint(tx, account, endpoint);
  if (row === null) throw missingEndpoint();
  if (row.disabled_at !== null) throw endpointDisabled();
  const problem = isEventType(type)
    ? subscriptionProblem(type)
    : 'must be a dotted name such as order.created';
  if (problem !== null) throw fail('invalid_event_type', `type: ${problem}`);
  checkSubscription(principal, [type]);
  // signing data of the caller's choice takes the same permission as reading the secret
  if (data !== undefined) checkSubscription(principal, row.event_types);
  const nothing = {
    object: 'webhook_test',
    webhook_endpoint_id: idOf('we', endpoint),
    message: 'This is a test: nothing happened.',
  };
  // of an own type, its example
  const [own] = data === undefined ? await ownTypes(tx, account, [type]) : [];
  const text = data === undefined ? `{"data":${own?.example ?? toJson(nothing)}}` : json.text;
  return { endpoint, event: await publishTest(tx, { account, endpoint, type, body: text, changes }) };
}

/**
 * Tries a filter, by default that of the endpoint, on the payload in a body. Throws `resource_missing`,
 * `invalid_filter`, `unknown_operator`, `too_many_filters`.
 */
export async function testEndpointFilter(
  db: Reader,
  account: AccountId,
  id: string,
  { filter: given, text }: Pick<FilterTestInput, 'filter'> & { readonly text: string },
): Promise<Json<FilterTest>> {
  const row = await endpointRow(db, account, endpointUuid(id));
  if (row === null) throw missingEndpoint();
  return testFilter(db, given ?? (row.filter === null ? null : JSON.parse(row.filter)), text);
}

/** The refusal of sending to a disabled endpoint. */
export const endpointDisabled = () =>
  fail('endpoint_disabled', 'the webhook endpoint is disabled: enable it, then held events are sent');

/** What seals the secrets of an endpoint under the key with this fingerprint. */
export const sealing =
  ({ account, vault }: AccountVault, endpoint: EndpointId, key: string) =>
  (secret: string) =>
    vault.seal(secret, placeOf(account, endpoint, 'secret'), key);

/** Requires the scope `affiliates`. Throws `insufficient_scope`. */
export function checkSubscription({ scopes }: Principal, eventTypes: readonly string[] | null): void {
  if (needsAffiliates(eventTypes) && !scopes.has('affiliates')) {
    throw lacksAffiliates('events of payouts, commissions, affiliates and imports need');
  }
}

function openHeaders({ account, vault }: AccountVault, endpoint: EndpointId, row: EndpointRow): OwnHeaders {
  if (row.header_values === null) return {};
  const values = JSON.parse(vault.open(row.header_values, placeOf(account, endpoint, 'headers'))) as string[];
  return Object.fromEntries(row.header_names.map((name, index) => [name, values[index] ?? '']));
}

/** The columns of the named fields, checked. */
async function columnsOf(
  tx: Tx,
  endpoint: EndpointId,
  input: EndpointChange,
  {
    caller,
    headersBefore,
    isSealed = false,
  }: {
    readonly caller: Caller;
    readonly headersBefore: OwnHeaders;
    /** These headers are what is stored. */
    readonly isSealed?: boolean;
  },
): Promise<Columns> {
  const { account, vault } = caller;
  const columns: Record<string, unknown> = {
    ...(input.url === undefined ? {} : urlColumns(input.url, caller)),
    ...columnsOfFields(input),
  };
  if (input.headers !== undefined) {
    const headers = changedHeaders(headersBefore, input.headers);
    // sealed again, the same values would be other bytes
    if (isSealed && isDeepStrictEqual(headers, headersBefore)) return columns;
    columns.header_names = Object.keys(headers);
    const values = toJson(Object.values(headers));
    columns.header_values = vault.seal(values, placeOf(account, endpoint, 'headers'), await sealingKey(tx));
  }
  return columns;
}
