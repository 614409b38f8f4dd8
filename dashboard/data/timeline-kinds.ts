/** What happens to an affiliate: filters of the timeline. */
export const TIMELINE_KINDS = ['commission', 'refund', 'adjustment', 'return', 'payout', 'change'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
