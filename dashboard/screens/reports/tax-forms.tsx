import { getRouteApi, Link } from '@tanstack/react-router';
import type { AffiliateTaxProfile, ListAffiliateTaxProfilesQuery } from '../../../src/client/api.ts';
import { Empty } from '../../parts/feedback.tsx';
import { day } from '../../parts/format.ts';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Name } from '../../parts/values.tsx';
import { common } from '../../texts/common.ts';
import { tax } from '../../texts/tax.ts';
import { Views as Reports } from './views.tsx';

const route = getRouteApi('/reports/tax-forms');
const texts = tax.lapsing;
/** What each view lists. */
const VIEWS = {
  lapsing: { form_status: 'lapsing' },
  lapsed: { form_status: 'lapsed' },
  none: { form_status: 'none' },
  ending: { self_billing_status: 'ending' },
  ended: { self_billing_status: 'ended' },
} as const satisfies Readonly<Record<string, ListAffiliateTaxProfilesQuery>>;
type View = keyof typeof VIEWS;

/** /reports/tax-forms */
export function TaxFormsScreen() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { view = 'lapsing' } = search;
  const list = useList('listAffiliateTaxProfiles', {
    filters: VIEWS[view],
    place: search,
    onPlace: (next) => void navigate({ search: { ...search, page: undefined, ...next } }),
  });
  return (
    <Page title={texts.title} lead={texts.lead} actions={<ListMenu {...list} />}>
      <Reports by={null} />
      <Tabs label={texts.show}>
        {(Object.keys(VIEWS) as View[]).map((each) => (
          <Link
            key={each}
            to="/reports/tax-forms"
            search={{ view: each === 'lapsing' ? undefined : each }}
            className={each === view ? 'active' : undefined}
            activeProps={{}}
          >
            {texts.views[each]}
          </Link>
        ))}
      </Tabs>
      <Listing
        {...list}
        label={texts.title}
        columns={view === 'ending' || view === 'ended' ? AGREEMENT_COLUMNS : FORM_COLUMNS}
        keyOf={({ affiliate_id }) => String(affiliate_id)}
        empty={<Empty icon="check" title={texts.empty[view]} />}
      />
    </Page>
  );
}

const AFFILIATE_COLUMNS: readonly Column<AffiliateTaxProfile>[] = [
  {
    title: texts.columns.affiliate,
    sort: 'legal_name',
    cell: ({ affiliate_id, legal_name }) => (
      <Link {...rowLink} to="/affiliates/$id" params={{ id: String(affiliate_id) }}>
        <Name>{legal_name}</Name>
      </Link>
    ),
  },
  { title: texts.columns.country, isWide: true, cell: ({ country }) => country },
];

const FORM_COLUMNS: readonly Column<AffiliateTaxProfile>[] = [
  ...AFFILIATE_COLUMNS,
  {
    title: texts.columns.form,
    isBelow: true,
    cell: ({ form }) =>
      form === null ? <span className="soft">{common.nothing}</span> : tax.forms[form.type],
  },
  {
    title: texts.columns.signed,
    sort: 'signed_on',
    isWide: true,
    cell: ({ form }) => (form === null ? common.nothing : day(form.signed_on)),
  },
  {
    title: texts.columns.until,
    cell: ({ form }) => (form?.valid_until ? day(form.valid_until) : common.nothing),
  },
];

const AGREEMENT_COLUMNS: readonly Column<AffiliateTaxProfile>[] = [
  ...AFFILIATE_COLUMNS,
  {
    title: texts.columns.agreedBy,
    isBelow: true,
    cell: ({ self_billing }) => <Name>{self_billing?.agreed_by ?? common.nothing}</Name>,
  },
  {
    title: texts.columns.agreed,
    isWide: true,
    cell: ({ self_billing }) => (self_billing ? day(self_billing.agreed_on) : common.nothing),
  },
  {
    title: texts.columns.lastDay,
    cell: ({ self_billing }) => (self_billing?.expires_on ? day(self_billing.expires_on) : common.nothing),
  },
];
