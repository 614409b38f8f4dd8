import { Link } from '@tanstack/react-router';
import type { Commission } from '../../src/client/api.ts';
import { nameOf, useAffiliate } from '../data/affiliates.ts';
import { affiliates } from '../texts/affiliates.ts';
import { commissions as texts } from '../texts/commissions.ts';
import { type Column, rowLink } from './table.tsx';
import { Money, Name, Status, Time, type Tone } from './values.tsx';

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

/** The row of a commission leads to its drawer over the list of all. */
function CommissionLink({ commission }: { commission: Commission }) {
  const { id, affiliate_id, description } = commission;
  return (
    <>
      <Link {...rowLink} to="/commissions" search={{ affiliate_id, open: id }}>
        {titleOf(commission)}
      </Link>
      {description && <span className="second">{description}</span>}
    </>
  );
}

/** Commissions of one affiliate. */
export const COMMISSION_COLUMNS: readonly Column<Commission>[] = [
  { title: texts.columns.order, cell: (commission) => <CommissionLink commission={commission} /> },
  { title: texts.columns.status, cell: (commission) => <CommissionStatus commission={commission} /> },
  { title: texts.columns.type, isWide: true, cell: ({ type }) => texts.type[type] },
  {
    title: texts.columns.amount,
    isFigure: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
  },
  { title: texts.columns.occurred, isWide: true, cell: ({ occurred_at }) => <Time at={occurred_at} /> },
];
