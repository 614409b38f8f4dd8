import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Commission, Refund } from '../../../src/client/api.ts';
import { isHeld } from '../../parts/commissions.tsx';
import { money } from '../../parts/format.ts';
import { Time } from '../../parts/values.tsx';
import { commissions as texts } from '../../texts/commissions.ts';

const route = getRouteApi('/commissions');

interface Moment {
  readonly key: string;
  /** null = now. */
  readonly at: string | null;
  readonly title: string;
  readonly detail?: ReactNode;
}

const labels = texts.history;

/** The history of a commission, oldest first, and its current state. */
export function History({ commission, refunds }: { commission: Commission; refunds: readonly Refund[] }) {
  const moments = momentsOf(commission, refunds).sort((one, other) =>
    (one.at ?? '9') < (other.at ?? '9') ? -1 : 1,
  );
  return (
    <section className="part history">
      <h2>{labels.title}</h2>
      <ol className="timeline">
        {moments.map(({ key, at, title, detail }) => (
          <li key={key}>
            <span>{title}</span>
            {at && (
              <span className="soft">
                <Time at={at} isAbsolute isFocusable />
              </span>
            )}
            {detail && <div className="small soft">{detail}</div>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function momentsOf(commission: Commission, refunds: readonly Refund[]): Moment[] {
  const { status, available_at: available, payout_id: payout, voided_at: voided } = commission;
  const isWaiting = status === 'pending' && available !== null;
  return [
    { key: 'occurred', at: commission.occurred_at, title: labels.occurred },
    {
      key: 'created',
      at: commission.created_at,
      title: labels.created,
      detail: commission.reverses_commission_id && (
        <Other id={commission.reverses_commission_id} title={labels.reverses} />
      ),
    },
    ...(available && available > commission.created_at
      ? [{ key: 'available', at: available, title: isWaiting ? labels.onHold : labels.available }]
      : []),
    ...refunds.flatMap((refund) => refundMoments(commission, refund)),
    ...(isHeld(commission) ? [{ key: 'held', at: null, title: labels.held }] : []),
    ...(payout && status !== 'paid' && status !== 'voided'
      ? [{ key: 'payout', at: null, title: labels.inPayout, detail: <PayoutOf id={payout} /> }]
      : []),
    ...(commission.paid_at
      ? [
          {
            key: 'paid',
            at: commission.paid_at,
            title: labels.paid,
            detail: payout && <PayoutOf id={payout} />,
          },
        ]
      : []),
    ...(voided
      ? [
          {
            key: 'voided',
            at: voided,
            title: labels.voided,
            detail: commission.void_reason && labels.because(commission.void_reason),
          },
        ]
      : []),
  ];
}

/** The part of a refund that applies to this commission. */
function refundMoments({ id, currency }: Commission, refund: Refund): Moment[] {
  return refund.refunds
    .filter(({ commission, clawback }) => commission.id === id || clawback?.id === id)
    .map(({ amount, clawback, capped }) => {
      const sum = money({ amount, currency });
      return {
        key: refund.id,
        at: refund.created_at,
        title: refund.status === 'reversed' ? labels.reversed(sum) : labels.refunded(sum),
        detail: (
          <>
            {refund.reason && <p>{labels.because(refund.reason)}</p>}
            {capped && <p>{labels.capped}</p>}
            {clawback && clawback.id !== id && (
              <Other id={clawback.id} title={labels.clawback(money({ amount: clawback.amount, currency }))} />
            )}
          </>
        ),
      };
    });
}

function PayoutOf({ id }: { id: string }) {
  return (
    <Link to="/payouts/$id" params={{ id }}>
      {labels.payout}
    </Link>
  );
}

function Other({ id, title }: { id: string; title: string }) {
  const search = route.useSearch();
  return (
    <Link to="/commissions" search={{ ...search, open: id }}>
      {title}
    </Link>
  );
}
