import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Commission, ListCommissionsQuery } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { pageSize } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { AffiliateLink, CommissionStatus, titleOf } from '../../parts/commissions.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListMenu } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink, type Selection } from '../../parts/table.tsx';
import { Money, Time } from '../../parts/values.tsx';
import { commissions as texts } from '../../texts/commissions.ts';
import { common } from '../../texts/common.ts';
import { SelectedBar } from './bulk.tsx';
import { CommissionDrawer } from './commission.tsx';
import { Filters } from './filters.tsx';

const route = getRouteApi('/commissions');
type Search = ReturnType<typeof route.useSearch>;

/** The query for the search parameters of the screen. */
export function queryOf({ by, search, date = 'occurred_at', from, to, open, act, sort, ...rest }: Search) {
  return {
    ...rest,
    sort: sort as ListCommissionsQuery['sort'],
    [by ?? 'order_id']: search,
    [`${date}[gte]`]: from,
    [`${date}[lte]`]: to,
  } satisfies ListCommissionsQuery;
}

const columns: readonly Column<Commission>[] = [
  { title: texts.columns.order, cell: (commission) => <Row commission={commission} /> },
  { title: texts.columns.affiliate, cell: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} /> },
  {
    title: texts.columns.status,
    isWide: true,
    cell: (commission) => <CommissionStatus commission={commission} />,
  },
  { title: texts.columns.type, isWide: true, cell: ({ type }) => texts.type[type] },
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
      <span className="narrow-only second">
        <CommissionStatus commission={commission} />
      </span>
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
  const query = { ...queryOf(search), per_page: Number(pageSize.use()) };
  const reading = useRead('listCommissions', { query }, { isLive: true, keepsPrevious: true });
  const may = useMay();
  const { selection, selected, clear } = useSelected(reading.data?.data ?? []);
  const change = (next: Partial<Search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const { page, sort, open, act, by, date, ...filters } = search;
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const total = reading.data?.pagination.total;
  const bringIn = may.write && (
    <Link className="button plain" to="/import" search={{ kind: 'commissions' }}>
      <Icon name="import" />
      {common.importFile}
    </Link>
  );
  return (
    <Page
      title={texts.title}
      lead={isFiltered && total !== undefined ? texts.found(total) : texts.lead}
      actions={
        <>
          <ListMenu id="listCommissions" query={query} />
          {bringIn}
        </>
      }
    >
      <Filters search={search} change={change} />
      <Listing
        label={texts.title}
        reading={reading}
        columns={columns}
        keyOf={({ id }) => id}
        sort={sort}
        onSort={(field) => change({ sort: field })}
        onPage={(to) => change({ page: to })}
        selection={may.write ? selection : undefined}
        empty={
          isFiltered ? (
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
      {open && <CommissionDrawer key={open} id={open} />}
    </Page>
  );
}
