import { getRouteApi, Link } from '@tanstack/react-router';
import type { PayoutSummary } from '../../../src/client/api.ts';
import { useMay, useMe } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { currencyOptions, DayField, FilterSelect } from '../../parts/field.tsx';
import { whole } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Moneys, Status, Time } from '../../parts/values.tsx';
import { payouts as texts } from '../../texts/payouts.ts';
import { schedules } from '../../texts/schedules.ts';

const route = getRouteApi('/payouts');

const COLUMNS: readonly Column<PayoutSummary>[] = [
  {
    title: texts.columns.number,
    sort: 'number',
    cell: ({ id, number }) => (
      <Link {...rowLink} to="/payouts/$id" params={{ id }}>
        {texts.name(number)}
      </Link>
    ),
  },
  { title: texts.columns.status, sort: 'status', cell: ({ status }) => <PayoutStatus status={status} /> },
  { title: texts.columns.amount, isFigure: true, cell: ({ totals }) => <Moneys amounts={totals} /> },
  {
    title: texts.columns.affiliates,
    sort: 'affiliate_count',
    isFigure: true,
    isWide: true,
    cell: ({ affiliate_count }) => whole(affiliate_count),
  },
  {
    title: texts.columns.commissions,
    sort: 'commission_count',
    isFigure: true,
    isWide: true,
    cell: ({ commission_count }) => whole(commission_count),
  },
  {
    title: texts.columns.created,
    sort: 'created_at',
    isWide: true,
    cell: ({ created_at, created_by }) => (
      <>
        <Time at={created_at} />
        <span className="second">
          <Actor id={created_by} />
        </span>
      </>
    ),
  },
  { title: texts.columns.paid, sort: 'paid_at', isWide: true, cell: ({ paid_at }) => <Time at={paid_at} /> },
];

/** /payouts */
export function PayoutList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const own = useMe().data?.account.default_currency ?? 'usd';
  const current = useRead('listPayouts', { query: { status: 'unpaid', per_page: 1 } });
  const unpaid = current.data?.data[0];
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listPayouts', {
    filters: {
      status: search.status,
      currency: search.currency,
      'paid_at[gte]': search.from,
      'paid_at[lte]': search.to,
    },
    place: search,
    onPlace: change,
  });
  const primary = unpaid ? (
    <Link className="button primary" to="/payouts/$id" params={{ id: unpaid.id }}>
      {texts.openCurrent(unpaid.number)}
    </Link>
  ) : may.write ? (
    <Link className="button primary" to="/payouts/new">
      <Icon name="plus" />
      {texts.new}
    </Link>
  ) : null;
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          <ListMenu {...list} />
          <Link className="button plain" to="/payouts/schedules">
            <Icon name="clock" />
            {schedules.title}
          </Link>
          {primary}
        </>
      }
    >
      <div className="filters">
        <FilterSelect
          label={texts.columns.status}
          any={texts.anyStatus}
          value={search.status}
          options={[
            { value: 'unpaid', label: texts.status.unpaid },
            { value: 'paid', label: texts.status.paid },
          ]}
          onChange={(status) => change({ status })}
        />
        <FilterSelect
          label={texts.columns.currency}
          any={texts.anyCurrency}
          value={search.currency}
          options={currencyOptions([own])}
          onChange={(currency) => change({ currency })}
        />
        <DayField label={texts.paidFrom} value={search.from} onChange={(from) => change({ from })} />
        <DayField label={texts.paidTo} value={search.to} onChange={(to) => change({ to })} />
      </div>
      <Listing
        {...list}
        label={texts.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.empty.filtered} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty icon="payouts" title={texts.empty.title} actions={primary}>
              {texts.empty.lead}
            </Empty>
          )
        }
      />
    </Page>
  );
}

/** The status of a payout as text. */
export function PayoutStatus({ status }: { status: PayoutSummary['status'] }) {
  return <Status tone={status === 'paid' ? 'good' : 'info'} label={texts.status[status]} />;
}
