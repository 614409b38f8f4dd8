import { fail } from '../kernel/errors.ts';
import {
  CAPABILITIES,
  type Capability,
  capabilitiesOf,
  OF_CONSUMERS,
  OF_PORTALS,
  OF_PROGRAMS,
  usersWith,
} from './roles.ts';
import type { Principal } from './route.ts';
import { openingOf } from './scopes.ts';

type Caller = Pick<Principal, 'kind' | 'role' | 'scopes'>;

/** What a caller may do; an application, with any of its scopes. */
export function capabilitiesOfCaller({ kind, role, scopes }: Caller): readonly Capability[] {
  if (kind === 'application')
    return [...new Set([...scopes].flatMap((scope) => openingOf(scope)?.gives ?? []))];
  if (kind === 'key' || kind === 'operator') return OF_PROGRAMS;
  if (kind === 'endpoint') return OF_CONSUMERS;
  const granted = capabilitiesOf(role);
  return kind === 'portal' ? granted.filter((each) => OF_PORTALS.includes(each)) : granted;
}

/** Whether a caller may do something. */
export const isAllowed = (caller: Caller, capability: Capability): boolean =>
  capabilitiesOfCaller(caller).includes(capability);

/** Throws `person_required`, `full_access_required` or `role_too_low` unless the caller may do it. */
export function requireCapability(caller: Caller, capability: Capability): void {
  if (isAllowed(caller, capability)) return;
  const does = CAPABILITIES[capability];
  if (caller.kind === 'portal')
    throw fail('role_too_low', 'the link of this portal is for reading only, and shows no secrets');
  const who = usersWith(capability);
  if (caller.kind === 'user')
    throw fail('role_too_low', `the role ${caller.role} may not ${does}: only ${who} may`);
  if (!OF_PROGRAMS.includes(capability))
    throw fail(
      'person_required',
      `only ${who} who are signed in to the dashboard may ${does}, not a key and not an application`,
    );
  throw fail(
    'full_access_required',
    `no application may ${does}: only ${who} who are signed in, and API keys, may`,
  );
}
