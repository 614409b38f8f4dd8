import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReportEntry } from '../../../src/client/api.ts';
import { countryName } from '../../../src/terms/countries.ts';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { useMe } from '../../data/me.ts';
import { IconButton } from '../../parts/button.tsx';
import { AffiliateChip, ProgramChoice } from '../../parts/commission-filters.tsx';
import { AffiliateLink } from '../../parts/commissions.tsx';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { currencyOptions, DayField, FilterSelect, optionsOf } from '../../parts/field.tsx';
import { FoldedFilters, setIn } from '../../parts/fold.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Money, Name, Time } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { reports } from '../../texts/reports.ts';
import { Views } from './views.tsx';

const route = getRouteApi('/reports/entries');
const texts = reports.entries;
type Search = ReturnType<typeof route.useSearch>;
const KINDS = ['earned', 'adjusted', 'refunded', 'voided', 'paid', 'returned'] as const;
/** Kinds that reduce what is owed: the columns of the report show them above zero. */
const TAKEN: readonly (string | undefined)[] = ['refunded', 'voided', 'paid'];

/** /reports/entries */
export function EntriesScreen() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { page, sort, ...filters } = search;
  const change = (next: Partial<Search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listReportEntries', {
    filters: { ...filters, has_program: filters.has_program === undefined ? undefined : false },
    place: search,
    onPlace: change,
  });
  return (
    <Page title={texts.title} lead={texts.lead} actions={<ListMenu {...list} />}>
      <Views by={null} />
      <Filters search={search} change={change} />
      <Listing
        {...list}
        label={texts.title}
        columns={columnsOf(search.kind)}
        keyOf={(entry) => JSON.stringify(entry)}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.filtered} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty icon="file" title={texts.empty} />
          )
        }
      />
    </Page>
  );
}

function Filters({ search, change }: { search: Search; change: (next: Partial<Search>) => void }) {
  const own = useMe().data?.account.default_currency ?? 'usd';
  const { page, sort, kind, ...folded } = search;
  const { country } = search;
  const name = country === 'none' ? reports.unknown.country : (country && countryName(country)) || country;
  return (
    <FoldedFilters
      set={setIn(folded)}
      first={
        <FilterSelect
          label={texts.kind}
          any={texts.anyKind}
          value={kind}
          options={optionsOf(KINDS, reports.figures)}
          onChange={(value) => change({ kind: value })}
        />
      }
    >
      <FilterSelect
        label={reports.currency}
        any={texts.anyCurrency}
        value={search.currency}
        options={currencyOptions([own])}
        onChange={(value) => change({ currency: value })}
      />
      <FilterSelect
        label={reports.groups.method}
        any={affiliates.filters.anyMethod}
        value={search.payout_method}
        options={optionsOf([...DESTINATION_TYPES, 'none'], METHODS)}
        onChange={(value) => change({ payout_method: value })}
      />
      <ProgramChoice search={search} change={change} />
      <DayField label={reports.from} value={search.from} onChange={(from) => change({ from })} />
      <DayField label={reports.to} value={search.to} onChange={(to) => change({ to })} />
      <AffiliateChip search={search} change={change} />
      {name && (
        <span className="chip">
          {name}
          <IconButton icon="cross" label={texts.anyCountry} onPress={() => change({ country: undefined })} />
        </span>
      )}
    </FoldedFilters>
  );
}

const METHODS = { ...affiliates.method, none: reports.unknown.method };

/** The columns; of one kind, amounts are as in its column of the report. */
function columnsOf(kind: ReportEntry['kind'] | undefined): readonly Column<ReportEntry>[] {
  const sign = TAKEN.includes(kind) ? -1 : 1;
  return [
    { title: texts.entry, cell: (entry) => <Entry entry={entry} /> },
    {
      title: reports.groups.affiliate,
      isBelow: true,
      cell: ({ affiliate_id }) => <AffiliateLink id={affiliate_id} />,
    },
    {
      title: reports.groups.method,
      isWide: true,
      cell: ({ paid_through }) => paid_through && affiliates.method[paid_through],
    },
    {
      title: texts.day,
      sort: 'occurred_at',
      isBelow: true,
      cell: ({ occurred_at }) => <Time at={occurred_at} />,
    },
    {
      title: kind === undefined ? texts.change : reports.figures[kind],
      isFigure: true,
      cell: ({ amount, currency }) => <Money amount={sign * amount} currency={currency} isStrong />,
    },
  ];
}

/** The kind, linked to the record, and what the record is called. */
function Entry({ entry }: { entry: ReportEntry }) {
  const { kind, commission_id, payout_id, affiliate_id, what, reference } = entry;
  // Payhook made its own ids
  const names = [what.startsWith('payhook:') ? null : what, reference].filter((name) => name !== null);
  return (
    <>
      {payout_id === null ? (
        <Link {...rowLink} to="/commissions" search={{ open: commission_id ?? undefined }}>
          {texts.kinds[kind]}
        </Link>
      ) : (
        <Link {...rowLink} to="/payouts/$id" params={{ id: payout_id }} search={{ line: affiliate_id }}>
          {texts.kinds[kind]}
        </Link>
      )}
      <span className="second">
        <Name>{names.join(' · ')}</Name>
      </span>
    </>
  );
}
