import { getRouteApi } from '@tanstack/react-router';
import { useMe } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { AffiliateChip, ProgramChoice } from '../../parts/commission-filters.tsx';
import { currencyOptions, FilterSelect, optionsOf, SearchField, Select } from '../../parts/field.tsx';
import { FoldedFilters, setIn } from '../../parts/fold.tsx';
import { commissions as texts } from '../../texts/commissions.ts';
import { payouts } from '../../texts/payouts.ts';

const route = getRouteApi('/commissions');
type Search = ReturnType<typeof route.useSearch>;
type Change = (next: Partial<Search>) => void;

const STATUSES = ['pending', 'unpaid', 'paid', 'voided'] as const;
const TYPES = ['sale', 'recurring', 'bonus', 'adjustment', 'clawback'] as const;
const filters = texts.filters;

/** All filters of the list. */
export function Filters({ search, change }: { search: Search; change: Change }) {
  const currency = useMe().data?.account.default_currency ?? 'usd';
  const { by, search: found, date, page, sort, open, act, ...folded } = search;
  return (
    <FoldedFilters first={<Finding search={search} change={change} />} set={setIn(folded)}>
      <FilterSelect
        label={texts.columns.status}
        any={filters.anyStatus}
        value={search.status}
        options={optionsOf(STATUSES, texts.status)}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label={texts.columns.type}
        any={filters.anyType}
        value={search.type}
        options={optionsOf(TYPES, texts.type)}
        onChange={(type) => change({ type })}
      />
      <FilterSelect
        label={filters.currency}
        any={filters.anyCurrency}
        value={search.currency}
        options={[...currencyOptions([currency])]}
        onChange={(chosen) => change({ currency: chosen })}
      />
      <ProgramChoice search={search} change={change} />
      <PayoutChoice search={search} change={change} />
      <Span search={search} change={change} />
      <AffiliateChip search={search} change={change} />
    </FoldedFilters>
  );
}

/** Finds by a complete order id or external id. */
function Finding({ search, change }: { search: Search; change: Change }) {
  const by: keyof typeof filters.by = search.by ?? 'order_id';
  return (
    <>
      <Select
        label={filters.search}
        value={by}
        options={optionsOf(['order_id', 'order_line_id', 'external_id'], filters.by)}
        onChange={(next: keyof typeof filters.by) => change({ by: next })}
      />
      <SearchField
        label={filters.by[by]}
        value={search.search ?? ''}
        onChange={(typed) => change({ search: typed || undefined })}
      />
    </>
  );
}

function PayoutChoice({ search, change }: { search: Search; change: Change }) {
  const { data } = useRead('listPayouts', { query: { per_page: 25, sort: '-number' } });
  const known = (data?.data ?? []).map(({ id, number }) => ({ value: id, label: payouts.name(number) }));
  const chosen = search.payout_id;
  const isKnown = chosen === undefined || chosen === 'none' || known.some(({ value }) => value === chosen);
  return (
    <FilterSelect
      label={filters.payout}
      any={filters.anyPayout}
      value={chosen}
      options={[
        { value: 'none', label: filters.noPayout },
        ...(isKnown ? [] : [{ value: chosen, label: chosen }]),
        ...known,
      ]}
      onChange={(id) => change({ payout_id: id })}
    />
  );
}

/** A range of days, both inclusive, for one of the dates. */
function Span({ search, change }: { search: Search; change: Change }) {
  return (
    <span className="span">
      <Select
        label={filters.date}
        value={search.date ?? 'occurred_at'}
        options={optionsOf(['occurred_at', 'created_at', 'paid_at', 'voided_at'], filters.dates)}
        onChange={(date) => change({ date })}
      />
      <Day label={filters.from} value={search.from} onChange={(from) => change({ from })} />
      <Day label={filters.to} value={search.to} onChange={(to) => change({ to })} />
    </span>
  );
}

function Day({
  label,
  value = '',
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}) {
  return (
    <input
      type="date"
      className="input"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}
