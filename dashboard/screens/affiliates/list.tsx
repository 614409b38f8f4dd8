import { getRouteApi, Link } from '@tanstack/react-router';
import type { AffiliateBalance, AffiliateWithBalance } from '../../../src/client/api.ts';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { missingOf, nameOf } from '../../data/affiliates.ts';
import { useMay, useMe } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { FilterSelect, optionsOf, SearchField, Select } from '../../parts/field.tsx';
import { FoldedFilters, setIn } from '../../parts/fold.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Moneys, Name, Status, Time } from '../../parts/values.tsx';
import { affiliates as texts } from '../../texts/affiliates.ts';
import { common } from '../../texts/common.ts';

const route = getRouteApi('/affiliates');

const amountsOf = (
  balances: readonly AffiliateBalance[],
  state: 'pending' | 'unpaid' | 'in_payout' | 'paid',
) =>
  balances
    .filter((each) => each[state] !== 0)
    .map((each) => ({ currency: each.currency, amount: each[state] }));

const COLUMNS: readonly Column<AffiliateWithBalance>[] = [
  {
    title: texts.columns.name,
    sort: 'email',
    cell: (affiliate) => (
      <>
        <Link {...rowLink} to="/affiliates/$id" params={{ id: String(affiliate.id) }}>
          <Name>{nameOf(affiliate)}</Name>
        </Link>
        {nameOf(affiliate) !== affiliate.email && <span className="second">{affiliate.email}</span>}
      </>
    ),
  },
  {
    title: texts.columns.unpaid,
    sort: 'unpaid',
    isFigure: true,
    cell: ({ balance }) => <Moneys amounts={amountsOf(balance, 'unpaid')} isStrong />,
  },
  {
    title: texts.columns.pending,
    isFigure: true,
    isWide: true,
    cell: ({ balance }) => <Moneys amounts={amountsOf(balance, 'pending')} />,
  },
  {
    title: texts.columns.inPayout,
    isFigure: true,
    isWide: true,
    cell: ({ balance }) => <Moneys amounts={amountsOf(balance, 'in_payout')} />,
  },
  {
    title: texts.columns.paid,
    isFigure: true,
    isWide: true,
    cell: ({ balance }) => <Moneys amounts={amountsOf(balance, 'paid')} />,
  },
  { title: texts.columns.lastPaid, isWide: true, cell: ({ last_paid_at }) => <Time at={last_paid_at} /> },
  { title: texts.columns.method, isBelow: true, cell: (affiliate) => <Payment affiliate={affiliate} /> },
];

/** The payout method, and what prevents payment. */
function Payment({ affiliate }: { affiliate: AffiliateWithBalance }) {
  const { paid_through: method, status, is_ready_for_payout: isReady } = affiliate;
  return (
    <span className="signs">
      {missingOf(affiliate) ? <Status tone="warn" label={texts.missing} /> : texts.method[method ?? 'none']}
      {status === 'inactive' && <Status tone="neutral" label={texts.status.inactive} />}
      {!isReady && <Status tone="neutral" label={texts.paused} />}
    </span>
  );
}

/** /affiliates */
export function AffiliateList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { page, sort, is_ready_for_payout, has_destination, ...filters } = search;
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listAffiliates', {
    filters: {
      ...filters,
      is_ready_for_payout: toBoolean(is_ready_for_payout),
      has_destination: toBoolean(has_destination),
    },
    place: search,
    onPlace: change,
  });
  const bringIn = may.write && (
    <Link className="button plain" to="/import" search={{ kind: 'affiliates' }}>
      <Icon name="import" />
      {common.importFile}
    </Link>
  );
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          <ListMenu {...list} />
          {bringIn}
        </>
      }
    >
      <Filters search={search} change={change} />
      <Listing
        {...list}
        label={texts.title}
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        empty={
          list.isFiltered ? (
            <Empty
              icon="affiliates"
              title={texts.empty.filtered}
              actions={<Button onPress={() => void navigate({ search: {} })}>{texts.empty.clear}</Button>}
            >
              {texts.empty.filteredLead}
            </Empty>
          ) : (
            <Empty icon="affiliates" title={texts.empty.title} actions={bringIn}>
              <p>{texts.empty.lead}</p>
              <p>
                <code>{texts.empty.command}</code>
              </p>
            </Empty>
          )
        }
      />
    </Page>
  );
}

const toBoolean = (word: 'true' | 'false' | undefined) => (word === undefined ? undefined : word === 'true');

type Search = ReturnType<typeof route.useSearch>;

function Filters({ search, change }: { search: Search; change: (next: Partial<Search>) => void }) {
  const texted = texts.filters;
  const programs = useRead('listPrograms', { query: { per_page: 100 } }).data?.data ?? [];
  const ownCurrency = useMe().data?.account.default_currency ?? 'usd';
  const balanceCurrency = search.balance_currency ?? ownCurrency;
  const currencies = [...new Set([ownCurrency, balanceCurrency, ...useOwedCurrencies()])];
  const { search: found, page, sort, ...folded } = search;
  return (
    <FoldedFilters
      first={
        <SearchField
          label={texts.search}
          value={search.search ?? ''}
          onChange={(typed) => change({ search: typed || undefined })}
        />
      }
      set={setIn(folded)}
    >
      <FilterSelect
        label={texted.status}
        any={texted.anyStatus}
        value={search.status}
        options={[
          { value: 'active', label: texts.status.active },
          { value: 'inactive', label: texts.status.inactive },
        ]}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label={texted.method}
        any={texted.anyMethod}
        value={search.payout_method}
        options={optionsOf([...DESTINATION_TYPES, 'none'], texts.method)}
        onChange={(method) => change({ payout_method: method })}
      />
      <FilterSelect
        label={texted.destination}
        any={texted.anyDestination}
        value={search.has_destination}
        options={[
          { value: 'true', label: texted.hasDestination },
          { value: 'false', label: texted.noDestination },
        ]}
        onChange={(has) => change({ has_destination: has })}
      />
      <FilterSelect
        label={texted.ready}
        any={texted.anyReady}
        value={search.is_ready_for_payout}
        options={[
          { value: 'true', label: texted.isReady },
          { value: 'false', label: texted.isPaused },
        ]}
        onChange={(ready) => change({ is_ready_for_payout: ready })}
      />
      {programs.length > 0 && (
        <FilterSelect
          label={texted.program}
          any={texted.anyProgram}
          value={search.program_id?.toString()}
          options={programs.map(({ id, name }) => ({ value: String(id), label: name }))}
          onChange={(id) => change({ program_id: id === undefined ? undefined : Number(id) })}
        />
      )}
      {currencies.length > 1 && /unpaid$/.test(search.sort ?? '') && (
        <Select
          label={texted.currency}
          value={balanceCurrency}
          options={currencies.map((value) => ({ value, label: value.toUpperCase() }))}
          onChange={(currency) => change({ balance_currency: currency })}
        />
      )}
    </FoldedFilters>
  );
}

/** The currencies with a balance. */
function useOwedCurrencies(): readonly string[] {
  return useRead('getBalances', {}).data?.balances.map(({ currency }) => currency) ?? [];
}
