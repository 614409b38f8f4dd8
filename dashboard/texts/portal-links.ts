import { listed } from './common.ts';

export const portalLinks = {
  title: 'Portal links',
  lead: 'A portal shows your customer the settings, secret and log of this endpoint, and nothing else of your account. A link works once and opens a portal for an hour.',
  frames: (origins: readonly string[]) =>
    origins.length === 0
      ? 'No page may show a portal in a frame. It opens in its own tab.'
      : `These pages may show a portal in a frame: ${listed(origins)}.`,
  changeFrames: 'Change this in the account settings',
  ownersOnly: 'Only owners of the account can see and create portal links.',
  ownersOnlyLead: 'A link lets whoever has it change where events are sent. Ask an owner for one.',
  of: 'Opens',
  one: 'This endpoint',
  all: (owner: string) => `All endpoints of ${owner}`,
  readOnly: 'read-only',
  anyStatus: 'Any status',
  status: 'Status',
  statuses: {
    unused: 'Not opened yet',
    open: 'Open',
    ended: 'Ended',
    expired: 'Not opened in time',
    revoked: 'Revoked',
  },
  made: 'Created',
  by: 'Created by',
  until: 'Until',
  empty: 'No portal links yet',
  emptyLead:
    'Your server creates one whenever a customer opens your page (POST /v2/webhook-endpoints/{id}/portal-link). To try it, create one here. Links stay in this list for a month.',
  filtered: 'No portal link matches.',
  make: {
    title: 'Create a portal link',
    action: 'Create link',
    readOnly: 'Read-only: nothing can be changed or sent there, and the secret is not shown',
    ttl: 'How long it can be opened',
    ttls: { '300': '5 minutes', '3600': 'One hour', '86400': 'One day' },
    types: 'The portal offers the event types that this endpoint receives now.',
    everything:
      'This endpoint receives events of all types and has no filter. Whoever opens the portal can see everything you publish, including events about other customers.',
    done: 'Portal link created',
    once: 'Copy it now: it is shown only once. It opens one portal, for whoever opens it first.',
    label: 'Link',
  },
  revoke: 'Revoke',
  revokeTitle: 'Revoke the portal link',
  revoking: {
    unused: 'The link can no longer be opened. This cannot be undone; you can create another one.',
    open: 'The portal that it opened ends at once. This cannot be undone; you can create another link.',
  },
  revoked: 'Portal link revoked',
};
