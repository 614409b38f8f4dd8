import { describeRole, ROLE_NAMES } from '../../../src/contract/roles.ts';

/** The roles as options, each with its permissions. */
export const ROLES = ROLE_NAMES.map((role) => ({ value: role, label: describeRole(role) }));
