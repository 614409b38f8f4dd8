/** Every type of event that Payhook publishes, and when. `catalogue/` has its data and an example. */
export const EVENT_TYPES = {
  'payout.created': 'An unpaid payout was created.',
  'payout.updated':
    'Members, sums or destinations of the unpaid payout changed, or money of a paid payout was returned.',
  'payout.approved': 'A second person approved the unpaid payout in its current revision.',
  'payout.rejected': 'A person rejected the unpaid payout in its current revision.',
  'payout.paid': 'A payout was completed.',
  'payout.deleted': 'An unpaid payout was deleted, or a refund emptied it.',
  'commission.created': 'A single commission or adjustment was created.',
  'commission.updated':
    'A refund reduced a commission or was reversed, or the commission was held or unheld.',
  'commission.voided': 'A commission or a clawback was voided and is no longer owed.',
  'commission.clawed_back':
    'A paid commission was refunded. The record is the clawback, which the next payout settles.',
  'commissions.imported':
    'Commissions were created by a batch or a file, or carried over from a payout: one event for all of them.',
  'affiliate.created': 'An affiliate was created.',
  'affiliate.updated': 'A field of an affiliate changed.',
  'affiliate.deleted': 'The import that created an affiliate was undone.',
  'import.undone':
    'An import was undone: its commissions are voided, and its affiliates are as they were before.',
  'webhook_endpoint.disabled':
    "An endpoint was disabled. The account's other endpoints get this event, except those of another owner.",
  'webhook_endpoint.test':
    'An endpoint was tested. Only that endpoint gets the event, whatever it subscribes to.',
} as const;

export type EventType = keyof typeof EVENT_TYPES;

/**
 * The types that report a change of a record that was there before and still is. Their events have `changes`
 * (docs/decisions/0116); the compiler requires the record from before of everyone who publishes them.
 */
const UPDATES = [
  'payout.updated',
  'payout.approved',
  'payout.rejected',
  'payout.paid',
  'commission.updated',
  'commission.voided',
  'affiliate.updated',
  'import.undone',
  'webhook_endpoint.disabled',
] as const satisfies readonly EventType[];

export type UpdateType = (typeof UPDATES)[number];

/** Whether events of a type have `changes`. */
export const isUpdate = (type: string): type is UpdateType => (UPDATES as readonly string[]).includes(type);
