/*
 * Who may do what: the one table that authentication, the description, approval, alerts, the dashboard, the command line
 * and the guides read (docs/decisions/0092). The dashboard uses this file too, so it imports nothing.
 */

/** What an operation can require, and what it allows, in words that follow "may". */
export const CAPABILITIES = {
  read: 'read everything except secrets, payment files and complete account numbers',
  write: 'change affiliates, commissions, payouts, imports and account settings',
  files: 'download payment files and invoices, with complete account numbers and tax ids',
  approve: 'approve and reject payouts',
  tax_ids: 'export complete tax ids for tax forms',
  webhooks: 'change webhook endpoints and event types, send events again and see signing secrets',
  self: 'see and end their own sessions',
  people: 'manage users, sessions, API keys and applications',
  own: 'publish events, erase affiliates, manage portals and alert channels, and read the audit log and the state of the system',
} as const;
export type Capability = keyof typeof CAPABILITIES;
export const ALL_CAPABILITIES = Object.keys(CAPABILITIES) as readonly Capability[];

interface RoleRow {
  /** Its users, as a plural. */
  readonly users: string;
  /** What a user with the role may do, for people who choose one. */
  readonly summary: string;
  readonly capabilities: readonly Capability[];
}

/** The roles of users: whoever may do most comes first. A new role is a row here and in the CHECK of `users.role`. */
export const ROLES = {
  owner: { users: 'owners', summary: 'may do everything', capabilities: ALL_CAPABILITIES },
  member: {
    users: 'members',
    summary: 'may do everything except API keys, users and applications',
    capabilities: ['read', 'self', 'write', 'files', 'approve', 'webhooks'],
  },
  finance: {
    users: 'finance users',
    summary:
      'manages payouts, affiliates, commissions, imports and tax reports, but no webhooks, users or API keys',
    capabilities: ['read', 'self', 'write', 'files', 'approve', 'tax_ids'],
  },
  approver: {
    users: 'approvers',
    summary: 'reads, downloads payment files and approves payouts, but changes nothing else',
    capabilities: ['read', 'self', 'files', 'approve'],
  },
  viewer: {
    users: 'viewers',
    summary: 'only reads, without payment files and complete account numbers',
    capabilities: ['read', 'self'],
  },
} as const satisfies Readonly<Record<string, RoleRow>>;
export type Role = keyof typeof ROLES;
export const ROLE_NAMES = Object.keys(ROLES) as Role[];

/** What an API key or the command line may do: everything that does not take a person. */
export const OF_PROGRAMS: readonly Capability[] = ALL_CAPABILITIES.filter(
  (each) => each !== 'approve' && each !== 'self',
);
/** What a portal may do, about its endpoints, unless its link is for reading only. */
export const OF_PORTALS: readonly Capability[] = ['read', 'webhooks'];
/** What the token of a pull endpoint may do, in the operations for consumers. */
export const OF_CONSUMERS: readonly Capability[] = ['webhooks'];

/** What a role grants. A role that this version does not know, such as one of a later version, grants nothing. */
export const capabilitiesOf = (role: string): readonly Capability[] =>
  Object.hasOwn(ROLES, role) ? ROLES[role as Role].capabilities : [];

/** The roles that grant a capability. */
export const rolesWith = (capability: Capability): Role[] =>
  ROLE_NAMES.filter((role) => capabilitiesOf(role).includes(capability));

/** The users who have a capability, for people to read, such as "owners and members". */
export function usersWith(capability: Capability): string {
  const users: string[] = rolesWith(capability).map((role) => ROLES[role].users);
  return users.length < 2 ? users.join('') : `${users.slice(0, -1).join(', ')} and ${users.at(-1)}`;
}

/** Whether one role grants anything that another does not. */
export const grantsMore = (role: Role, than: Role): boolean =>
  capabilitiesOf(role).some((each) => !capabilitiesOf(than).includes(each));

/** A role for people to read, such as "Owner". */
export const roleLabel = (role: string): string => role.charAt(0).toUpperCase() + role.slice(1);

/** A role with what it allows, such as "Owner: may do everything". */
export const describeRole = (role: string): string =>
  Object.hasOwn(ROLES, role) ? `${roleLabel(role)}: ${ROLES[role as Role].summary}` : roleLabel(role);
