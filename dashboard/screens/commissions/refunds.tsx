import { getRouteApi, Link } from '@tanstack/react-router';
import type { Refund } from '../../../src/client/api.ts';
import { REFUND_FIELDS } from '../../../src/client/fields.ts';
import { useMe } from '../../data/me.ts';
import { AffiliateChip, ProgramChoice } from '../../parts/commission-filters.tsx';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { currencyOptions, DayField, FilterSelect, optionsOf } from '../../parts/field.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { factsOf, givenIn } from '../../parts/record-fields.tsx';
import { sumsOf } from '../../parts/sums.ts';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Moneys, Name, Status, Time } from '../../parts/values.tsx';
import { commissions, refunds as texts } from '../../texts/commissions.ts';
import { Views } from './views.tsx';

const route = getRouteApi('/commissions/refunds');
const STATUSES = ['waiting', 'applied', 'reversed'] as const;
const TONES = { waiting: 'warn', applied: 'good', reversed: 'neutral' } as const;

const COLUMNS: readonly Column<Refund>[] = [
  {
    title: texts.refund,
    cell: (refund) => (
      <>
        <RefundLink refund={refund} />
        {refund.reason && (
          <span className="second">
            <Name>{refund.reason}</Name>
          </span>
        )}
      </>
    ),
  },
  {
    title: commissions.columns.status,
    isWide: true,
    cell: ({ status }) => <Status tone={TONES[status]} label={texts.statuses[status]} />,
  },
  { title: texts.details, cell: (refund) => <Details refund={refund} /> },
  { title: texts.taken, isFigure: true, cell: (refund) => <Moneys amounts={takenBy(refund)} /> },
  {
    title: texts.occurred,
    sort: 'occurred_at',
    isWide: true,
    cell: ({ occurred_at }) => <Time at={occurred_at} />,
  },
  {
    title: commissions.columns.created,
    sort: 'created_at',
    isWide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

// the list shows these in another way
const { order_id: _order, reason: _reason, occurred_at: _occurred, ...SHOWN } = REFUND_FIELDS;

/** The fields of a refund that no column shows. */
function Details({ refund }: { refund: Refund }) {
  return (
    <details>
      <summary>{texts.details}</summary>
      <Facts rows={factsOf(givenIn(SHOWN, refund), refund)} />
    </details>
  );
}

/** The amounts a refund took from its commissions, by currency. */
const takenBy = ({ refunds }: Refund) =>
  sumsOf(refunds.map(({ amount, commission }) => ({ totals: [{ amount, currency: commission.currency }] })));

/** The order or your own id, linked to the commission, or to the list if the order has several. */
function RefundLink({ refund: { order_id, external_id, refunds } }: { refund: Refund }) {
  const name = <Name>{order_id ?? external_id}</Name>;
  const [only, ...others] = refunds;
  if (only === undefined) return name;
  const search =
    others.length === 0 || order_id === null ? { open: only.commission.id } : { search: order_id };
  return (
    <Link {...rowLink} to="/commissions" search={search}>
      {name}
    </Link>
  );
}

/** /commissions/refunds */
export function RefundList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { status, from, to, currency, affiliate_id, program_id, has_program } = search;
  const own = useMe().data?.account.default_currency ?? 'usd';
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listRefunds', {
    filters: {
      status,
      currency,
      affiliate_id,
      program_id,
      has_program: has_program === undefined ? undefined : false,
      'occurred_at[gte]': from,
      'occurred_at[lte]': to,
    },
    place: search,
    onPlace: change,
  });
  return (
    <Page
      title={commissions.title}
      name={`${texts.title} · ${commissions.title}`}
      lead={texts.lead}
      actions={<ListMenu {...list} />}
    >
      <Views />
      <div className="filters">
        <FilterSelect
          label={commissions.columns.status}
          any={commissions.filters.anyStatus}
          value={status}
          options={optionsOf(STATUSES, texts.statuses)}
          onChange={(value) => change({ status: value })}
        />
        <FilterSelect
          label={commissions.filters.currency}
          any={commissions.filters.anyCurrency}
          value={currency}
          options={currencyOptions([own])}
          onChange={(value) => change({ currency: value })}
        />
        <ProgramChoice search={search} change={change} />
        <DayField label={commissions.filters.from} value={from} onChange={(day) => change({ from: day })} />
        <DayField label={commissions.filters.to} value={to} onChange={(day) => change({ to: day })} />
        <AffiliateChip search={search} change={change} />
      </div>
      <Listing
        {...list}
        label={texts.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.filtered} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty icon="commissions" title={texts.empty}>
              {texts.emptyLead}
            </Empty>
          )
        }
      />
    </Page>
  );
}
