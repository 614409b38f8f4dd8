import { Link } from '@tanstack/react-router';
import type { Payout, PayoutPreview } from '../../../src/client/api.ts';
import { nameOf } from '../../data/payouts.ts';
import { Notice } from '../../parts/feedback.tsx';
import { Name } from '../../parts/values.tsx';
import { payouts } from '../../texts/payouts.ts';

const texts = payouts.shared;

/** At most this many accounts are shown. */
const MOST = 5;

/** Warns of affiliates of an unpaid payout who are paid to the same bank account, and names them. */
export function SharedAccounts({ payout }: { payout: Payout | PayoutPreview }) {
  const shared = payout.shared_destinations;
  if (shared.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>{texts.lead}</p>
      <ul>
        {shared.slice(0, MOST).map(({ type, last_four, affiliate_count, affiliates }) => (
          <li key={affiliates[0]?.affiliate_id}>
            {texts.account(payouts.methods[type], last_four)}:{' '}
            {affiliates.map((affiliate, index) => (
              <span key={affiliate.affiliate_id}>
                {index > 0 && ', '}
                <Link to="/affiliates/$id" params={{ id: String(affiliate.affiliate_id) }}>
                  <Name>{nameOf(affiliate)}</Name>
                </Link>
              </span>
            ))}
            {affiliate_count > affiliates.length && `, ${texts.more(affiliate_count - affiliates.length)}`}
          </li>
        ))}
        {shared.length > MOST && <li>{texts.moreAccounts(shared.length - MOST)}</li>}
      </ul>
    </Notice>
  );
}
