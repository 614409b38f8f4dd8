import { getRouteApi, Link } from '@tanstack/react-router';
import type { AffiliateBalance, AffiliateWithBalance, PayoutSummary } from '../../../src/client/api.ts';
import { missingOf, nameOf } from '../../data/affiliates.ts';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { COMMISSION_COLUMNS } from '../../parts/commissions.tsx';
import { Id } from '../../parts/copy.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { money } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { type Column, rowLink, Table } from '../../parts/table.tsx';
import { Money, Moneys, Name, Status, Time } from '../../parts/values.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';
import { common, listed } from '../../texts/common.ts';
import { payouts } from '../../texts/payouts.ts';
import { Adjust } from './adjust.tsx';
import { EditAffiliate } from './edit.tsx';
import { SwitchPayouts } from './switch.tsx';

const route = getRouteApi('/affiliates/$id');
const OVERLAYS = { edit: EditAffiliate, adjust: Adjust, switch: SwitchPayouts };

/** /affiliates/{id} */
export function AffiliateScreen() {
  const { id } = route.useParams();
  const { open } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const {
    data: affiliate,
    error,
    refetch,
  } = useRead('getAffiliate', { path: [Number(id)] }, { isLive: true });
  const show = (next: typeof open) => void navigate({ search: { open: next }, replace: next === undefined });
  if (affiliate === undefined) {
    return (
      <Page title={texts.number(Number(id))} above={<Back />}>
        {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />}
      </Page>
    );
  }
  const Overlay = open && may.write ? OVERLAYS[open] : null;
  return (
    <Page
      title={<Name>{nameOf(affiliate)}</Name>}
      name={nameOf(affiliate)}
      above={<Back />}
      lead={may.write ? undefined : texts.viewer}
      status={affiliate.status === 'inactive' && <Status tone="neutral" label={texts.status.inactive} />}
      actions={may.write && <Actions affiliate={affiliate} show={show} />}
    >
      <Warning affiliate={affiliate} />
      <Balances balances={affiliate.balance} />
      <Details affiliate={affiliate} />
      <Commissions id={affiliate.id} />
      <Payouts id={affiliate.id} />
      {Overlay && <Overlay affiliate={affiliate} onClose={() => show(undefined)} />}
    </Page>
  );
}

function Back() {
  return (
    <Link to="/affiliates">
      <Icon name="left" />
      {texts.title}
    </Link>
  );
}

function Actions({
  affiliate,
  show,
}: {
  affiliate: AffiliateWithBalance;
  show: (open: keyof typeof OVERLAYS) => void;
}) {
  const { pause, resume, adjust, edit } = texts.actions;
  const label = affiliate.is_ready_for_payout ? pause : resume;
  return (
    <>
      <Menu
        label={common.more}
        groups={[{ items: [{ label, icon: 'pause', onPress: () => show('switch') }] }]}
      >
        <Icon name="dots" />
      </Menu>
      <Button onPress={() => show('adjust')}>{adjust}</Button>
      <Button kind="primary" onPress={() => show('edit')}>
        {edit}
      </Button>
    </>
  );
}

/** What stands between an affiliate and the money. */
function Warning({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const missing = missingOf(affiliate);
  const told = [
    ...(affiliate.status === 'inactive' ? [texts.warning.inactive] : []),
    ...(affiliate.is_ready_for_payout ? [] : [texts.warning.paused]),
    ...(missing ? [texts.warning[missing]] : []),
  ];
  if (told.length === 0) return null;
  return (
    <Notice tone="warn">
      {told.map((each) => (
        <p key={each}>{each}</p>
      ))}
    </Notice>
  );
}

const BALANCE_COLUMNS: readonly Column<AffiliateBalance>[] = [
  { title: texts.columns.currency, cell: ({ currency }) => currency.toUpperCase() },
  ...(['unpaid', 'pending', 'in_payout', 'paid'] as const).map((state) => ({
    title: texts.columns[state === 'in_payout' ? 'inPayout' : state],
    isFigure: true,
    cell: (balance: AffiliateBalance) => (
      <Money amount={balance[state]} currency={balance.currency} isStrong={state === 'unpaid'} />
    ),
  })),
];

function Balances({ balances }: { balances: readonly AffiliateBalance[] }) {
  return (
    <section className="part">
      <h2>{texts.balances}</h2>
      {balances.length === 0 ? (
        <p className="soft">{texts.noBalance}</p>
      ) : (
        <Table
          label={texts.balances}
          columns={BALANCE_COLUMNS}
          rows={balances}
          keyOf={({ currency }) => currency}
        />
      )}
    </section>
  );
}

function Details({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const { facts } = texts;
  const { payout_method: method, minimum_payout: minimum, legal_type: legalType } = affiliate;
  const minimums = Object.entries(minimum ?? {}).map(([currency, amount]) => money({ currency, amount }));
  const ready = affiliate.is_ready_for_payout;
  return (
    <Card title={texts.payment}>
      <Facts
        rows={[
          [facts.method, texts.method[method ?? 'none']],
          [facts.destination, affiliate.paypal_email ?? common.nothing],
          [
            facts.ready,
            <Status
              key="ready"
              tone={ready ? 'good' : 'neutral'}
              label={ready ? texts.readiness.on : texts.readiness.paused}
            />,
          ],
          [facts.minimum, minimums.length === 0 ? facts.accountMinimum : listed(minimums)],
          [
            facts.lastPaid,
            affiliate.last_paid_at ? (
              <Time key="paid" at={affiliate.last_paid_at} isFocusable />
            ) : (
              facts.never
            ),
          ],
          [facts.email, affiliate.email],
          [facts.legalType, texts.legalType[legalType ?? 'unknown']],
          [facts.country, affiliate.country ?? common.nothing],
          [facts.externalId, affiliate.external_id ?? common.nothing],
          [facts.slug, affiliate.slug ?? common.nothing],
          [facts.id, <Id key="id">{String(affiliate.id)}</Id>],
          [facts.created, <Time key="created" at={affiliate.created_at} isFocusable />],
        ]}
      />
    </Card>
  );
}

const NEWEST = 10;

function Commissions({ id }: { id: number }) {
  const query = { affiliate_id: id, per_page: NEWEST };
  const { data, error, refetch } = useRead('listCommissions', { query }, { isLive: true });
  return (
    <section className="part">
      <header>
        <h2>{texts.commissions}</h2>
        {data && data.pagination.total > 0 && (
          <Link to="/commissions" search={{ affiliate_id: id }}>
            {texts.allCommissions(data.pagination.total)}
          </Link>
        )}
      </header>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.pagination.total === 0 && <p className="soft">{texts.noCommissions}</p>}
      {!error && data?.pagination.total !== 0 && (
        <Table
          label={texts.commissions}
          columns={COMMISSION_COLUMNS}
          rows={data?.data}
          keyOf={(commission) => commission.id}
        />
      )}
    </section>
  );
}

function Payouts({ id }: { id: number }) {
  const query = { affiliate_id: id, per_page: NEWEST };
  const { data, error, refetch } = useRead('listPayouts', { query }, { isLive: true });
  return (
    <section className="part">
      <h2>{texts.payouts}</h2>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data?.pagination.total === 0 && <p className="soft">{texts.noPayouts}</p>}
      {!error && data?.pagination.total !== 0 && (
        <Table
          label={texts.payouts}
          columns={payoutColumns(id)}
          rows={data?.data}
          keyOf={(payout) => payout.id}
        />
      )}
      {data && data.pagination.total > NEWEST && (
        <p className="hint">{texts.allPayouts(data.pagination.total)}</p>
      )}
    </section>
  );
}

const payoutColumns = (affiliate: number): readonly Column<PayoutSummary>[] => [
  {
    title: payouts.columns.number,
    cell: ({ id, number }) => (
      <Link {...rowLink} to="/payouts/$id" params={{ id }}>
        {payouts.name(number)}
      </Link>
    ),
  },
  {
    title: payouts.columns.status,
    cell: ({ status }) => (
      <Status tone={status === 'paid' ? 'good' : 'info'} label={payouts.status[status]} />
    ),
  },
  {
    title: payouts.columns.amount,
    isFigure: true,
    cell: ({ id }) => <LineAmount payout={id} affiliate={affiliate} />,
  },
  {
    title: payouts.columns.created,
    isWide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
  { title: payouts.columns.paid, cell: ({ paid_at }) => <Time at={paid_at} /> },
];

/** What a payout has for one affiliate. */
function LineAmount({ payout, affiliate }: { payout: string; affiliate: number }) {
  const { data } = useRead('listPayoutAffiliates', { path: [payout], query: { affiliate_id: affiliate } });
  if (data === undefined) return <span className="bone" />;
  return <Moneys amounts={data.data[0]?.totals ?? []} />;
}
