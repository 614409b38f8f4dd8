/** The kinds of entries in an affiliate's timeline, used as filters. */
export const TIMELINE_KINDS = ['commission', 'refund', 'adjustment', 'return', 'payout', 'change'] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
