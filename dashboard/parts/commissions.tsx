import { Link } from '@tanstack/react-router';
import type { Commission } from '../../src/client/api.ts';
import { nameOf, useAffiliate } from '../data/affiliates.ts';
import { affiliates } from '../texts/affiliates.ts';
import { commissions as texts } from '../texts/commissions.ts';
import { Name, Status, type Tone } from './values.tsx';

const TONES: Readonly<Record<Commission['status'], Tone>> = {
  pending: 'warn',
  unpaid: 'info',
  paid: 'good',
  voided: 'neutral',
};

/** Whether somebody set it aside until its review ends. */
export const isHeld = ({ status, available_at }: Commission): boolean =>
  status === 'pending' && available_at === null;

/** The status of a commission in words. */
export function CommissionStatus({ commission }: { commission: Commission }) {
  const { status } = commission;
  const label = isHeld(commission) ? texts.held : texts.status[status];
  return <Status tone={TONES[status]} label={label} {...(status === 'voided' ? { icon: 'cross' } : {})} />;
}

/** What a commission is called: its order, else your id; those that Payhook made itself by what they are. */
export const titleOf = ({ order_id, external_id, type }: Commission): string =>
  order_id ?? (external_id.startsWith('payhook:') ? texts.type[type] : external_id);

/** The affiliate of a record, by name, and the way there. */
export function AffiliateLink({ id }: { id: number }) {
  const affiliate = useAffiliate(id);
  return (
    <Link to="/affiliates/$id" params={{ id: String(id) }}>
      {affiliate === undefined ? affiliates.number(id) : <Name>{nameOf(affiliate)}</Name>}
    </Link>
  );
}
