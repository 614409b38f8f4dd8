import type { Principal } from '../../contract/route.ts';
import type { Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { EndpointChange } from './record.ts';
import { type EndpointRow, lockAndCount } from './store.ts';

/** The most endpoints of an owner that portals create, unless the account says otherwise: all owners share its maximum. */
const MOST_IN_PORTAL = 10;

/** Refuses one endpoint more of an owner than it may have. Throws `too_many_endpoints`. */
export function checkRoom(
  { portal }: Principal,
  { ofOwner, mostOfOwner }: Pick<Awaited<ReturnType<typeof lockAndCount>>, 'ofOwner' | 'mostOfOwner'>,
): void {
  const most = mostOfOwner ?? (portal ? MOST_IN_PORTAL : Number.POSITIVE_INFINITY);
  if (ofOwner < most) return;
  throw fail(
    'too_many_endpoints',
    portal
      ? `there are ${ofOwner} webhook endpoints here, and ${most} is the maximum: delete one first`
      : `the owner has ${ofOwner} webhook endpoints, and endpoints_per_owner of the account allows ${most}: delete one first`,
  );
}

/**
 * An endpoint that has an owner keeps it: its log, and what waits for it, contain events that were published for that owner.
 * Throws `endpoint_owner_fixed`, `too_many_endpoints`.
 */
export async function checkOwnerChange(
  tx: Tx,
  principal: Principal,
  { owner }: EndpointChange,
  before: Pick<EndpointRow, 'owner'>,
): Promise<void> {
  if (owner === undefined || owner === before.owner) return;
  if (before.owner !== null) {
    throw fail(
      'endpoint_owner_fixed',
      'owner: the webhook endpoint has one, and its log belongs to it; create another endpoint for another owner',
    );
  }
  checkRoom(principal, await lockAndCount(tx, principal.account, owner));
}
