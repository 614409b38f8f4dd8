import type { DeliveryStatus } from '../../src/client/api.ts';

/** The tone in which each status of a delivery is shown. */
export const DELIVERY_TONES = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'neutral',
  held: 'neutral',
} as const satisfies Record<DeliveryStatus, string>;
