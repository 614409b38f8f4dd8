import type { Principal } from '../../contract/route.ts';
import { readNow } from '../../db/clock.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { LOCKS, tryLock } from '../../db/locks.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type EndpointId, idOf, uuidOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import {
  formatInstant,
  INSTANT_OR_DAY_RULE,
  parseDay,
  parseInstant,
  parseInstantOrDay,
  type Timestamp,
} from '../../kernel/time.ts';
import { oldestComplete } from '../../outbox/missing.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { checkSubscription, endpointUuid, missingEndpoint } from '../endpoints/service.ts';
import { loggedEndpoint } from '../log/service.ts';
import { knownTypes } from '../types/types.ts';
import type { RecoveryPreview, RecoveryPreviewRequest, WebhookRecovery } from './record.ts';
import {
  countMatching,
  type Filters,
  insertRecovery,
  lockTarget,
  markCancelled,
  openRecovery,
  type RecoveryKey,
  readRecovery,
} from './store.ts';

const missing = () => fail('resource_missing', 'no such recovery of this webhook endpoint');

function keyOf(ids: { id: string; recovery_id: string }): RecoveryKey {
  const [endpoint, recovery] = [uuidOf('we', ids.id), uuidOf('rec', ids.recovery_id)];
  if (endpoint === null || recovery === null) throw missing();
  return { endpoint, recovery };
}

/** The record of a recovery, including an ended one. Throws `resource_missing`. */
export async function getRecovery(
  db: Reader,
  account: AccountId,
  ids: { id: string; recovery_id: string },
): Promise<Json<WebhookRecovery>> {
  const json = await readRecovery(db, account, keyOf(ids));
  if (json === null) throw missing();
  return json;
}

/**
 * Stores a recovery or discard for the workers. It sends again, or cancels, the events of an endpoint that match when it
 * reaches them. Throws `insufficient_scope`, `resource_missing`, `endpoint_deleted`, `recovery_in_progress` (with Location),
 * `invalid_body`, `invalid_event_type`, and for a recovery `endpoint_disabled`.
 */
export async function createRecovery(
  tx: Tx,
  principal: Principal,
  id: string,
  input: Request,
): Promise<Json<WebhookRecovery>> {
  const { account } = principal;
  const endpoint = endpointUuid(id);
  // a credential may not request what it may not read
  checkSubscription(principal, input.types ?? null);
  const target = await lockTarget(tx, account, endpoint);
  if (target === null) throw missingEndpoint();
  if (target.deleted)
    throw fail('endpoint_deleted', 'the webhook endpoint was deleted; only its log is left');
  if (target.disabled && input.action === 'recover') {
    throw fail('endpoint_disabled', 'the webhook endpoint is disabled: enable it, then recover');
  }
  await refuseSecond(tx, account, endpoint);
  const filters = await filtersOf(tx, account, input, target.now);
  const recovery = await insertRecovery(tx, account, {
    action: input.action,
    endpoint,
    filters,
    createdBy: principal.id,
  });
  const json = await readRecovery(tx, account, { endpoint, recovery });
  if (json === null) throw missing();
  return json;
}

/** What is requested of a job: a discard takes what waits, whatever `status` says. */
type Request = RecoveryPreviewRequest & Pick<WebhookRecovery, 'action'>;

/** Counts what a recovery or discard would take now. Throws `resource_missing`, `invalid_body`, `invalid_event_type`. */
export async function previewRecovery(
  tx: Tx,
  { account }: Principal,
  id: string,
  { action = 'recover', ...input }: RecoveryPreviewRequest,
): Promise<Json<RecoveryPreview>> {
  const endpoint = await loggedEndpoint(tx, account, id);
  if (action === 'discard' && (input.status !== undefined || input.missing)) {
    const field = input.missing ? 'missing' : 'status';
    throw fail('invalid_body', `${field} is for a recovery: a discard takes what waits`);
  }
  const filters = await filtersOf(tx, account, { ...input, action }, formatInstant(await readNow(tx)));
  // it may read a million events and evaluate a filter on each, so an account has one connection for it
  if (input.missing && !(await tryLock(tx, LOCKS.missing(account)))) {
    throw fail('rate_limited', 'missing events of the account are being counted already: try again later', {
      'retry-after': '1',
    });
  }
  const { since, until, statuses, types } = filters;
  return toJson({
    object: 'recovery_preview' as const,
    webhook_endpoint_id: idOf('we', endpoint),
    action,
    filters: {
      since,
      until,
      status: [...statuses],
      types: types && [...types],
      missing: statuses.length === 0,
    },
    matching_count: await countMatching(tx, account, endpoint, filters),
  });
}

async function refuseSecond(tx: Tx, account: AccountId, endpoint: EndpointId): Promise<void> {
  const open = await openRecovery(tx, account, endpoint);
  if (open === null) return;
  const id = idOf('rec', open);
  throw fail(
    'recovery_in_progress',
    `recovery or discard ${id} of this endpoint is still in progress: wait for it or cancel it`,
    {
      location: `/v2/webhook-endpoints/${idOf('we', endpoint)}/recoveries/${id}`,
    },
  );
}

/** Ends a recovery or discard: it queues or cancels nothing more. Throws `resource_missing`, `recovery_ended`. */
export async function cancelRecovery(
  tx: Tx,
  account: AccountId,
  ids: { id: string; recovery_id: string },
): Promise<void> {
  const place = keyOf(ids);
  if (await markCancelled(tx, account, place)) return;
  if ((await readRecovery(tx, account, place)) === null) throw missing();
  throw fail('recovery_ended', `recovery ${ids.recovery_id} is already completed or cancelled`);
}

async function filtersOf(
  tx: Tx,
  account: AccountId,
  { action, since, until, status, types = null, missing = false }: Request,
  now: Timestamp,
): Promise<Filters> {
  if (missing && status !== undefined) {
    throw fail('invalid_body', 'status must not be given with missing: such events have none here');
  }
  if (!missing && since === undefined) throw fail('invalid_body', 'since is required');
  const zone = await zoneOf(tx, account);
  // future events are not sent again
  const to = Math.min(until === undefined ? Infinity : endOf(until, zone), parseInstant(now) ?? 0);
  const from =
    since === undefined
      ? Math.min((await oldestComplete(tx, account)) ?? to, to - 1)
      : (parseInstantOrDay(since, zone)?.from ?? refuseTime('since'));
  if (from >= to) {
    throw fail('invalid_body', 'since must be before until, which is at most now');
  }
  return {
    since: formatInstant(from),
    until: formatInstant(to),
    statuses: missing ? [] : action === 'discard' ? ['pending'] : [...new Set([status ?? 'failed'].flat())],
    types: types && knownTypes(types, 'types'),
  };
}

function endOf(until: string, zone: string): number {
  const at = parseInstantOrDay(until, zone) ?? refuseTime('until');
  return parseDay(until) === null ? at.from : at.until;
}

function refuseTime(field: string): never {
  throw fail('invalid_body', `${field} must be ${INSTANT_OR_DAY_RULE}`);
}
