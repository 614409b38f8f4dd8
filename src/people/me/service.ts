import { capabilitiesOfCaller, isAllowed } from '../../contract/access.ts';
import type { Portal, Principal } from '../../contract/route.ts';
import type { Reader } from '../../db/database.ts';
import { idOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { accountsOf } from '../users/credentials.ts';
import type { Me } from './record.ts';
import { accountCalled, programCalled, userCalled } from './store.ts';

const NOBODY = { name: null, email: null };

/**
 * Who makes a request, what they may do and where. For a signed-in user also the token that writes need, and the
 * other accounts they are a member of.
 */
export async function describeCaller(
  db: Reader,
  principal: Principal,
  hasSeveralCells: boolean,
): Promise<Json<Me>> {
  const { kind, id, role, scopes, session, portal } = principal;
  if (kind === 'endpoint') throw new Error('the token of a pull endpoint may not ask this');
  const account = await accountCalled(db, principal.account);
  const user = kind === 'user' ? await userCalled(db, principal) : null;
  const isProgram = kind === 'key' || kind === 'application';
  const { name, email } = user ?? (isProgram ? await programCalled(db, principal) : NOBODY);
  const accounts = user
    ? (await accountsOf(db, user.person)).map((each) => ({
        id: idOf('acc', each.account),
        name: each.account_name,
        role: each.role,
        is_current: each.account === principal.account,
        is_demo: each.is_demo,
      }))
    : [{ id: account.id, name: account.name, role, is_current: true, is_demo: account.is_demo }];
  return toJson({
    object: 'me',
    kind,
    id,
    name,
    email,
    role,
    scopes: [...scopes],
    capabilities: [...capabilitiesOfCaller(principal)],
    has_full_access: isAllowed(principal, 'own'),
    session_id: session === undefined ? null : idOf('ses', session),
    csrf_token: user?.csrf_token ?? null,
    portal: portal ? portalOf(portal) : null,
    account,
    accounts,
    has_several_cells: hasSeveralCells,
  });
}

const portalOf = ({ endpoint, owner, isOfOwner, eventTypes, endsAt }: Portal) => ({
  webhook_endpoint_id: idOf('we', endpoint),
  owner: isOfOwner ? owner : null,
  event_types: eventTypes && [...eventTypes],
  ends_at: endsAt,
});
