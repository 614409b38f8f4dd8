import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useCallback, useState } from 'react';
import type { Payout, PayoutLine } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { usePaymentFiles, usePayoutLines } from '../../data/payouts.ts';
import { useRead } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { copyCurl } from '../../parts/copy.tsx';
import { Empty, Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { ConfirmEnd } from '../../parts/overlay.tsx';
import { Card, Facts, Page, Steps } from '../../parts/page.tsx';
import { sumTexts } from '../../parts/sums.ts';
import { Moneys, Time } from '../../parts/values.tsx';
import { common, listed } from '../../texts/common.ts';
import { payouts } from '../../texts/payouts.ts';
import { schedules } from '../../texts/schedules.ts';
import { CameBack, useAnswers } from './answers.tsx';
import { Approval, Decided, isWithheld } from './approval.tsx';
import { Changes } from './changes.tsx';
import { Complete } from './complete.tsx';
import { Corrections } from './corrections.tsx';
import { Files } from './files.tsx';
import { PayoutInvoices } from './invoices.tsx';
import { Line } from './line.tsx';
import { Lines } from './lines.tsx';
import { PayoutStatus } from './list.tsx';
import { PreparedBy } from './prepared-by.tsx';
import { Signals, SignalsFile } from './signals.tsx';
import { useTicks } from './ticks.ts';
import { Mismatches, ReadVerification } from './verifications.tsx';
import { paidWithTax, taxFacts } from './with-tax.tsx';

const route = getRouteApi('/payouts/$id');
const STEPS = ['review', 'files', 'send', 'complete'] as const;

const above = (
  <Link to="/payouts">
    <Icon name="left" />
    {payouts.title}
  </Link>
);

/** /payouts/{id}: the steps of an unpaid payout, or the record of a paid one. */
export function PayoutScreen() {
  const { id } = route.useParams();
  const { line: open } = route.useSearch();
  const { data: payout, error, refetch } = useRead('getPayout', { path: [id] }, { isLive: true });
  const lines = usePayoutLines(payout);
  if (error?.status === 404) {
    return (
      <Page title={payouts.gone.title} above={above}>
        <Empty
          icon="payouts"
          title={payouts.gone.title}
          actions={
            <Link className="button plain" to="/payouts">
              {payouts.gone.action}
            </Link>
          }
        >
          {payouts.gone.lead}
        </Empty>
      </Page>
    );
  }
  if (payout === undefined) {
    return (
      <Page title={payouts.title} above={above}>
        {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} />}
      </Page>
    );
  }
  const opened = lines.data?.find(({ affiliate_id }) => affiliate_id === open);
  return (
    <Page
      title={payouts.name(payout.number)}
      status={<PayoutStatus status={payout.status} />}
      above={above}
      actions={<Actions payout={payout} />}
    >
      {lines.error && <Problem error={lines.error} onRetry={() => void lines.refetch()} />}
      {lines.isFetching && lines.data === undefined && lines.loaded > 0 && (
        <p className="hint" role="status">
          {payouts.review.loading(whole(lines.loaded), whole(payout.affiliate_count))}
        </p>
      )}
      {payout.status === 'paid' ? (
        <Paid payout={payout} lines={lines.data} />
      ) : (
        <Unpaid payout={payout} lines={lines.data} isCurrent={!lines.isPlaceholderData} />
      )}
      {opened && <Line payout={payout} line={opened} />}
    </Page>
  );
}

/** The secondary actions of a payout. */
function Actions({ payout }: { payout: Payout }) {
  const may = useMay();
  const [isDeleting, setDeleting] = useState(false);
  const stop = useCallback(() => setDeleting(false), []);
  return (
    <>
      <Menu
        label={common.more}
        groups={[
          {
            items: [
              { label: payouts.paid.print, icon: 'print', onPress: () => window.print() },
              {
                label: common.copyAsCurl,
                icon: 'copy',
                onPress: () => copyCurl('getPayout', { path: [payout.id] }),
              },
            ],
          },
          {
            items:
              payout.status === 'unpaid' && may.write
                ? [
                    {
                      label: payouts.paid.delete,
                      icon: 'trash',
                      isDangerous: true,
                      onPress: () => setDeleting(true),
                    },
                  ]
                : [],
          },
        ]}
      >
        <Icon name="dots" />
      </Menu>
      <a className="button plain" href={`/v2/affiliates/payouts/${payout.id}/download`} download>
        <Icon name="download" />
        {payouts.paid.csv}
      </a>
      {isDeleting && <Delete payout={payout} onClose={stop} />}
    </>
  );
}

function Delete({ payout, onClose }: { payout: Payout; onClose: () => void }) {
  const navigate = useNavigate();
  const isDownloaded = usePaymentFiles(payout).data?.files.some(({ downloads }) => downloads.length > 0);
  const texts = payouts.remove;
  return (
    <ConfirmEnd
      operation="deletePayout"
      input={{ path: [payout.id], ifMatch: payout.revision }}
      title={texts.title(payout.number)}
      action={texts.action(payout.number)}
      done={texts.done}
      onDone={() => void navigate({ to: '/payouts' })}
      onClose={onClose}
    >
      <p>{texts.lead(payouts.commissions(payout.commission_count), listed(sumTexts(payout.totals)))}</p>
      {isDownloaded && <p>{texts.files}</p>}
    </ConfirmEnd>
  );
}

/** The facts of a payout. */
function Summary({
  payout,
  rows = [],
}: {
  payout: Payout;
  rows?: readonly (readonly [string, ReactNode])[];
}) {
  return (
    <Card>
      <Facts
        rows={[
          [payouts.columns.amount, <Moneys key="amount" amounts={payout.totals} isStrong />],
          ...taxFacts(payout.totals),
          [payouts.columns.affiliates, whole(payout.affiliate_count)],
          [payouts.columns.commissions, whole(payout.commission_count)],
          [payouts.columns.created, <Time key="created" at={payout.created_at} isFocusable />],
          [payouts.columns.madeBy, <Actor key="by" id={payout.created_by} />],
          ...(payout.schedule_id === null
            ? []
            : [[schedules.preparedBy, <PreparedBy key="schedule" schedule={payout.schedule_id} />] as const]),
          ...rows,
        ]}
      />
    </Card>
  );
}

interface Shown {
  readonly payout: Payout;
  readonly lines: readonly PayoutLine[] | undefined;
}

/** The steps of an unpaid payout. */
function Unpaid({ payout, lines, isCurrent }: Shown & { isCurrent: boolean }) {
  const { step = 'review' } = route.useSearch();
  const may = useMay();
  // here, so that the selection survives a change of step
  const ticks = useTicks();
  const answers = useAnswers();
  const at = STEPS.indexOf(step);
  const next = (to: (typeof STEPS)[number], text: string) => (
    <div className="next">
      <Link className="button primary" to="/payouts/$id" params={{ id: payout.id }} search={{ step: to }}>
        {text}
      </Link>
    </div>
  );
  return (
    <>
      {lines && <Changes payout={payout} lines={lines} isCurrent={isCurrent} />}
      <Signals payout={payout} />
      <Mismatches payout={payout} />
      <Corrections />
      <Approval payout={payout} />
      <Steps
        label={payouts.steps.label}
        steps={STEPS.map((name, index) => ({
          title: payouts.steps[name],
          state: index < at ? 'done' : index === at ? 'current' : 'ahead',
          link: (inside, props) => (
            <Link
              {...props}
              to="/payouts/$id"
              params={{ id: payout.id }}
              search={{ step: name }}
              activeProps={{}}
            >
              {inside}
            </Link>
          ),
        }))}
      />
      {step === 'review' && (
        <>
          <Summary payout={payout} />
          <Lines payout={payout} lines={lines} />
          {next('files', payouts.review.next)}
        </>
      )}
      {step !== 'review' && isWithheld(payout) && (
        <Empty icon="payouts" title={payouts.approval.first}>
          {payouts.approval.firstLead}
        </Empty>
      )}
      {step === 'files' && !isWithheld(payout) && <Files payout={payout} />}
      {step === 'send' && !isWithheld(payout) && (
        <>
          <Send payout={payout} />
          {may.write && <ReadVerification payout={payout} />}
          {next('complete', payouts.send.next)}
        </>
      )}
      {step === 'complete' &&
        !isWithheld(payout) &&
        (may.write ? (
          <Complete payout={payout} lines={lines} ticks={ticks} answers={answers} />
        ) : (
          <Empty icon="payouts" title={payouts.viewer} />
        ))}
    </>
  );
}

/** What to do at the payment providers. */
function Send({ payout }: { payout: Payout }) {
  const { data, error, refetch } = usePaymentFiles(payout);
  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton />;
  const shares = [
    ...data.files
      .filter((file) => file.affiliate_count > 0)
      .map((file) => ({ ...file, method: file.format })),
    ...data.by_hand.map((sum) => ({ ...sum, method: 'other' as const })),
  ];
  const methods = [...new Set(shares.map(({ method }) => method))];
  const skipped = data.files.reduce((sum, file) => sum + file.skipped_count, 0);
  return (
    <Card>
      <p className="soft form-lead">{payouts.send.lead}</p>
      <ul className="send">
        {methods.map((method) => (
          <li key={method}>
            <div>
              <h2>{payouts.methods[method]}</h2>
              <p className="soft">{payouts.send.steps[method]}</p>
            </div>
            <Moneys amounts={shares.filter((share) => share.method === method)} isStrong />
          </li>
        ))}
      </ul>
      {skipped > 0 && (
        <Notice
          tone="warn"
          actions={
            <Link
              className="button plain"
              to="/payouts/$id"
              params={{ id: payout.id }}
              search={{ step: 'files' }}
            >
              {payouts.send.who}
            </Link>
          }
        >
          {payouts.send.skipped(skipped)}
        </Notice>
      )}
    </Card>
  );
}

/** The record of a paid payout. Replaces the steps, also for users who still have an earlier step open. */
function Paid({ payout, lines }: Shown) {
  const { step } = route.useSearch();
  const may = useMay();
  const released = payout.totals.filter(({ released_amount }) => released_amount > 0);
  const carried = payout.totals.filter(({ carried_amount }) => carried_amount > 0);
  const amounts = (of: typeof payout.totals, field: 'paid_amount' | 'released_amount' | 'carried_amount') => (
    <Moneys amounts={of.map((total) => ({ currency: total.currency, amount: total[field] }))} />
  );
  return (
    <>
      {step === 'complete' && (
        <Notice tone="warn">
          <p>{payouts.paid.already}</p>
        </Notice>
      )}
      <Summary
        payout={payout}
        rows={[
          [payouts.paid.linePaid, amounts(payout.totals, 'paid_amount')],
          ...paidWithTax(payout.totals),
          ...(released.length > 0
            ? [[payouts.paid.lineReleased, amounts(released, 'released_amount')] as const]
            : []),
          ...(carried.length > 0
            ? [[payouts.paid.carried, amounts(carried, 'carried_amount')] as const]
            : []),
          [payouts.paid.paidOn, <Time key="paid" at={payout.paid_at} isFocusable />],
          ...(payout.paid_by === null
            ? []
            : [[payouts.paid.paidBy, <Actor key="payer" id={payout.paid_by} />] as const]),
          ...(payout.approval.status === 'approved'
            ? [[payouts.approval.status.approved, <Decided key="approved" payout={payout} />] as const]
            : []),
        ]}
      />
      <Corrections />
      {may.write && <CameBack payout={payout} />}
      {step === 'files' ? <Files payout={payout} /> : <Lines payout={payout} lines={lines} />}
      {payout.signals.length > 0 && (
        <div className="buttons">
          <SignalsFile payout={payout} />
        </div>
      )}
      <PayoutInvoices payout={payout} />
    </>
  );
}
