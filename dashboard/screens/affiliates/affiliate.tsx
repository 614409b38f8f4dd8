import { getRouteApi, Link } from '@tanstack/react-router';
import type { AffiliateBalance, AffiliateWithBalance } from '../../../src/client/api.ts';
import { AFFILIATE_FIELDS } from '../../../src/client/fields.ts';
import { missingOf, nameOf } from '../../data/affiliates.ts';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { factsOf } from '../../parts/record-fields.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Money, Name, Status, Time } from '../../parts/values.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';
import { common } from '../../texts/common.ts';
import { Adjust } from './adjust.tsx';
import { Destinations, SetDestination } from './destination.tsx';
import { EditAffiliate } from './edit.tsx';
import { AffiliateInvoices } from './invoices.tsx';
import { AffiliateEmails } from './notices.tsx';
import { Statement } from './statement.tsx';
import { SwitchPayouts } from './switch.tsx';
import { TaxProfile } from './tax.tsx';
import { SetTaxProfile } from './tax-form.tsx';
import { Timeline } from './timeline.tsx';

const route = getRouteApi('/affiliates/$id');
const OVERLAYS = {
  edit: EditAffiliate,
  adjust: Adjust,
  switch: SwitchPayouts,
  destination: SetDestination,
  tax: SetTaxProfile,
};

/** /affiliates/{id} */
export function AffiliateScreen() {
  const { id } = route.useParams();
  const { open, kind } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const {
    data: affiliate,
    error,
    refetch,
  } = useRead('getAffiliate', { path: [Number(id)] }, { isLive: true });
  const show = (next: typeof open) =>
    void navigate({ search: { kind, open: next }, replace: next === undefined });
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
      <Destinations affiliate={affiliate} onSet={() => show('destination')} />
      <TaxProfile affiliate={affiliate} onSet={() => show('tax')} />
      <Statement affiliate={affiliate} />
      <AffiliateInvoices affiliate={affiliate} />
      <AffiliateEmails affiliate={affiliate} />
      <Timeline id={affiliate.id} />
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

/** Why an affiliate cannot be paid now. */
function Warning({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const missing = missingOf(affiliate);
  const reasons = [
    ...(affiliate.status === 'inactive' ? [texts.warning.inactive] : []),
    ...(affiliate.is_ready_for_payout ? [] : [texts.warning.paused]),
    ...(missing ? [texts.warning[missing]] : []),
  ];
  if (reasons.length === 0) return null;
  return (
    <Notice tone="warn">
      {reasons.map((each) => (
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
          isStacked
          columns={BALANCE_COLUMNS}
          rows={balances}
          keyOf={({ currency }) => currency}
        />
      )}
    </section>
  );
}

// the head of the page shows the name and the status
const { name_first: _first, name_last: _last, status: _status, ...SHOWN } = AFFILIATE_FIELDS;

function Details({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const { facts } = texts;
  const { last_paid_at: lastPaid, created_at: created } = affiliate;
  return (
    <Card title={texts.payment}>
      <Facts
        rows={[
          ...factsOf(SHOWN, { ...affiliate }),
          [facts.lastPaid, lastPaid ? <Time key="paid" at={lastPaid} isFocusable /> : facts.never],
          [facts.id, <Id key="id">{String(affiliate.id)}</Id>],
          [facts.created, <Time key="created" at={created} isFocusable />],
        ]}
      />
    </Card>
  );
}
