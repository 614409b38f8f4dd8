import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Commission } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { AffiliateLink, CommissionStatus, titleOf } from '../../parts/commissions.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink, type Selection } from '../../parts/table.tsx';
import { Money, Time } from '../../parts/values.tsx';
import { commissions as texts } from '../../texts/commissions.ts';
import { common } from '../../texts/common.ts';
import { SelectedBar } from './bulk.tsx';
import { CommissionDrawer } from './commission.tsx';
import { Filters } from './filters.tsx';
import { Views } from './views.tsx';

const route = getRouteApi('/commissions');
type Search = ReturnType<typeof route.useSearch>;

/** The filters of the API for the search parameters of the screen. */
function filtersOf({
  by = 'order_id',
  search,
  date = 'occurred_at',
  from,
  to,
  open,
  act,
  page,
  sort,
  ...rest
}: Search) {
  return { ...rest, [by]: search, [`${date}[gte]`]: from, [`${date}[lte]`]: to };
}

const columns: readonly Column<Commission>[] = [
  { title: texts.columns.order, cell: (commission) => <Row commission={commission} /> },
  {
    title: texts.columns.affiliate,
    isBelow: true,
    cell: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
  },
  {
    title: texts.columns.status,
    isBelow: true,
    cell: (commission) => <CommissionStatus commission={commission} />,
  },
  {
    title: texts.columns.type,
    isWide: true,
    cell: ({ type }) => <span className="unbroken">{texts.type[type]}</span>,
  },
  {
    title: texts.columns.amount,
    isFigure: true,
    cell: ({ amount, currency }) => <Money amount={amount} currency={currency} isStrong />,
  },
  {
    title: texts.columns.occurred,
    sort: 'occurred_at',
    isWide: true,
    cell: ({ occurred_at }) => <Time at={occurred_at} />,
  },
  {
    title: texts.columns.created,
    sort: 'created_at',
    isWide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

function Row({ commission }: { commission: Commission }) {
  const { id, description } = commission;
  const search = route.useSearch();
  return (
    <>
      <Link {...rowLink} to="/commissions" search={{ ...search, open: id }}>
        {titleOf(commission)}
      </Link>
      {description && <span className="second">{description}</span>}
    </>
  );
}

/** Selected commissions stay selected on other pages, with the values last read. */
function useSelected(shown: readonly Commission[]) {
  const [kept, setKept] = useState<ReadonlyMap<string, Commission>>(new Map());
  const fresh = new Map(shown.map((commission) => [commission.id, commission]));
  const on = shown.filter(({ id }) => kept.has(id)).length;
  const change = (some: readonly Commission[], isOn: boolean) => {
    const next = new Map(kept);
    for (const one of some) {
      if (isOn) next.set(one.id, one);
      else next.delete(one.id);
    }
    setKept(next);
  };
  const selection: Selection<Commission> = {
    has: (id) => kept.has(id),
    isAll: on > 0 && on === shown.length,
    isSome: on > 0,
    nameOf: titleOf,
    toggle: (id, isOn) =>
      change(
        [fresh.get(id) ?? kept.get(id)].filter((one) => one !== undefined),
        isOn,
      ),
    toggleAll: (isOn) => change(shown, isOn),
  };
  return {
    selection,
    selected: [...kept.values()].map((one) => fresh.get(one.id) ?? one),
    clear: () => setKept(new Map()),
  };
}

/** /commissions */
export function CommissionList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const change = (next: Partial<Search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listCommissions', {
    filters: filtersOf(search),
    place: search,
    onPlace: change,
  });
  const { data } = list.reading;
  const { selection, selected, clear } = useSelected(data?.data ?? []);
  const bringIn = may.write && (
    <Link className="button plain" to="/import" search={{ kind: 'commissions' }}>
      <Icon name="import" />
      {common.importFile}
    </Link>
  );
  return (
    <Page
      title={texts.title}
      lead={list.isFiltered && data ? texts.found(data.pagination.total) : texts.lead}
      actions={
        <>
          <ListMenu {...list} />
          {bringIn}
        </>
      }
    >
      <Views />
      <Filters search={search} change={change} />
      <Listing
        {...list}
        label={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        selection={may.write ? selection : undefined}
        empty={
          list.isFiltered ? (
            <Empty
              icon="commissions"
              title={texts.empty.filtered}
              actions={<Button onPress={() => void navigate({ search: {} })}>{texts.empty.clear}</Button>}
            >
              {texts.empty.filteredLead}
            </Empty>
          ) : (
            <Empty icon="commissions" title={texts.empty.title} actions={bringIn}>
              <p>{texts.empty.lead}</p>
              <p>
                <code>{texts.empty.command}</code>
              </p>
            </Empty>
          )
        }
      />
      {selected.length > 0 && <SelectedBar selected={selected} onClear={clear} />}
      {search.open && <CommissionDrawer key={search.open} id={search.open} />}
    </Page>
  );
}
