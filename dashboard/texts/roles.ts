import { type Capability, usersWith } from '../../src/contract/roles.ts';

/** Why the user cannot do something, and who can. */
export function roleCannot(capability: Capability, action: string): string {
  const who = usersWith(capability);
  return `Your role cannot ${action}. ${who.charAt(0).toUpperCase()}${who.slice(1)} can.`;
}
