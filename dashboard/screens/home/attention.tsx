import { Link } from '@tanstack/react-router';
import type { AffiliateBalances, PaymentFiles } from '../../../src/client/api.ts';
import { outdatedDownloads } from '../../data/payouts.ts';
import { useRead } from '../../data/queries.ts';
import { endsSoon, serverNow } from '../../data/server-time.ts';
import { Notice } from '../../parts/feedback.tsx';
import { home } from '../../texts/home.ts';

const LIVE = { isLive: true };
const texts = home.attention;
const OCTOBER = 9;

/** Everything that needs attention, with links. */
export function Attention({ balances }: { balances: AffiliateBalances }) {
  const payout = balances.current_payout_id;
  const files = useRead('getPaymentFiles', { path: [payout ?? ''] }, { ...LIVE, isEnabled: payout !== null });
  const approval = useRead('getPayout', { path: [payout ?? ''] }, { ...LIVE, isEnabled: payout !== null })
    .data?.approval.status;
  const isWaiting = payout !== null && approval === 'waiting';
  const endpoints = useRead('listWebhookEndpoints', { query: { per_page: 100 } }, LIVE).data?.data ?? [];
  const failed = useRead('listWebhookEvents', { query: { status: 'failed', per_page: 1 } }, LIVE);
  // all forms lapse at the end of a year
  const isLate = new Date(serverNow()).getUTCMonth() >= OCTOBER;
  const lapsing = useRead(
    'listAffiliateTaxProfiles',
    { query: { form_status: 'lapsing', per_page: 1 } },
    { ...LIVE, isEnabled: isLate },
  );
  const ending = useRead(
    'listAffiliateTaxProfiles',
    { query: { self_billing_status: 'ending', per_page: 1 } },
    LIVE,
  );
  const without = Math.max(
    0,
    ...balances.balances.map(({ without_destination: { affiliate_count: number } }) => number),
  );
  const outdated = payout !== null && files.data ? outdatedOf(files.data) : 0;
  const disabled = endpoints.filter(({ status }) => status === 'disabled').length;
  const failing = endpoints.filter((each) => each.status === 'enabled' && each.first_failure_at).length;
  const certificates = endpoints.filter(
    ({ status, client_certificate: certificate }) =>
      status === 'enabled' && certificate !== null && endsSoon(certificate.expires_at),
  ).length;
  const forms = lapsing.data?.pagination.total ?? 0;
  const agreements = ending.data?.pagination.total ?? 0;
  const events = failed.data?.pagination.total ?? 0;
  if (
    !isWaiting &&
    outdated + without + disabled + failing + certificates + forms + agreements + events === 0
  )
    return null;
  return (
    <Notice tone="warn">
      {isWaiting && (
        <p>
          <Link to="/payouts/$id" params={{ id: payout }}>
            {texts.approval}
          </Link>
        </p>
      )}
      {payout !== null && outdated > 0 && (
        <p>
          <Link to="/payouts/$id" params={{ id: payout }} search={{ step: 'files' }}>
            {texts.files(outdated)}
          </Link>
        </p>
      )}
      {without > 0 && (
        <p>
          <Link to="/affiliates" search={{ has_destination: 'false', sort: '-unpaid' }}>
            {texts.destination(without)}
          </Link>
        </p>
      )}
      {disabled > 0 && (
        <p>
          <Link to="/webhooks" search={{ status: 'disabled' }}>
            {texts.disabled(disabled)}
          </Link>
        </p>
      )}
      {failing > 0 && (
        <p>
          <Link to="/webhooks" search={{ status: 'enabled' }}>
            {texts.failing(failing)}
          </Link>
        </p>
      )}
      {certificates > 0 && (
        <p>
          <Link to="/webhooks" search={{ status: 'enabled' }}>
            {texts.certificates(certificates)}
          </Link>
        </p>
      )}
      {forms > 0 && (
        <p>
          <Link to="/reports/tax-forms">{texts.forms(forms)}</Link>
        </p>
      )}
      {agreements > 0 && (
        <p>
          <Link to="/reports/tax-forms" search={{ view: 'ending' }}>
            {texts.agreements(agreements)}
          </Link>
        </p>
      )}
      {events > 0 && (
        <p>
          <Link to="/webhooks/log" search={{ status: 'failed' }}>
            {texts.events(events)}
          </Link>
        </p>
      )}
    </Notice>
  );
}

/** How many files were last downloaded before the payout changed. */
function outdatedOf({ files }: PaymentFiles): number {
  return files.filter((file) => outdatedDownloads(file).length > 0).length;
}
