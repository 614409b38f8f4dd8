import type { Commission } from '../../../src/client/api.ts';
import { isHeld } from '../../parts/commissions.tsx';

export const ACTS = ['refund', 'hold', 'unhold', 'void'] as const;
export type Act = (typeof ACTS)[number];

/** The actions that the server would accept. */
export function actsOf(commission: Commission): Act[] {
  const { status, type, amount } = commission;
  if (type === 'clawback' || status === 'voided') return [];
  const isPaid = status === 'paid';
  const possible: Readonly<Record<Act, boolean>> = {
    refund: type !== 'adjustment' && leftOf(commission) > 0,
    hold: !isPaid && !isHeld(commission) && amount >= 0,
    unhold: !isPaid && isHeld(commission),
    void: !isPaid,
  };
  return ACTS.filter((act) => possible[act]);
}

/** The amount that can still be refunded, in minor units. */
export const leftOf = ({ original_amount, refunded_amount }: Commission): number =>
  original_amount - refunded_amount;
