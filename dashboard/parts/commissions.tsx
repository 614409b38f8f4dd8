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

/** Whether it is on hold for review. */
export const isHeld = ({ status, available_at }: Commission): boolean =>
  status === 'pending' && available_at === null;

/** The status of a commission as text. */
export function CommissionStatus({ commission }: { commission: Commission }) {
  const { status } = commission;
  const label = isHeld(commission) ? texts.held : texts.status[status];
  return <Status tone={TONES[status]} label={label} {...(status === 'voided' ? { icon: 'cross' } : {})} />;
}

/** The title of a commission: its order, else your own id; those created by Payhook are named by their type. */
export const titleOf = ({ order_id, external_id, type }: Commission): string =>
  order_id ?? (external_id.startsWith('payhook:') ? texts.type[type] : external_id);

/** The name of a record's affiliate, as a link. */
export function AffiliateLink({ id }: { id: number }) {
  const affiliate = useAffiliate(id);
  return (
    <Link to="/affiliates/$id" params={{ id: String(id) }}>
      {affiliate === undefined ? affiliates.number(id) : <Name>{nameOf(affiliate)}</Name>}
    </Link>
  );
}
