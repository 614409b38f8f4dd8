/**
 * Every type of event that Payhook publishes of its own, and when it happens. Its data and an example stand in
 * `catalogue/`.
 */
export const EVENT_TYPES = {
  'payout.created': 'A payout was made; it is unpaid.',
  'payout.updated':
    'Members, sums or destinations of the unpaid payout changed, or money of a paid one came back.',
  'payout.paid': 'A payout was completed.',
  'payout.deleted': 'An unpaid payout was deleted, or a refund emptied it.',
  'commission.created': 'A commission or adjustment came in by itself.',
  'commission.updated':
    'A commission was reduced by a refund, held or unheld, or such a refund was reversed.',
  'commission.voided': 'A commission is not owed any more, or a clawback is not.',
  'commission.clawed_back':
    'A paid commission was refunded: the record is the clawback that the next payout settles.',
  'commissions.imported':
    'Commissions came in by a batch or a file, or were carried over from a payout: one event for all.',
  'affiliate.created': 'An affiliate was made.',
  'affiliate.updated': 'A field of an affiliate changed.',
  'webhook_endpoint.disabled': "An endpoint was disabled; the account's other endpoints hear of it.",
  'webhook_endpoint.test':
    'Somebody tried an endpoint: it goes to that one alone, whatever it subscribes to.',
} as const;

export type EventType = keyof typeof EVENT_TYPES;
