import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { UsTaxReport, UsTaxRow } from '../../../src/client/api.ts';
import { download } from '../../data/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { optionsOf, Select, SelectField } from '../../parts/field.tsx';
import { money } from '../../parts/format.ts';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card, Facts, Page, Tabs } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save.ts';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Money, Name, Status } from '../../parts/values.tsx';
import { affiliates } from '../../texts/affiliates.ts';
import { common } from '../../texts/common.ts';
import { tax } from '../../texts/tax.ts';
import { Views as Reports } from './views.tsx';

const route = getRouteApi('/reports/us-tax');
const texts = tax.report;
/** The first year of Form 1099-NEC. */
const FIRST_YEAR = 2020;
const VIEWS = {
  w9: { missing_form: 'w9' },
  w8: { missing_form: 'w8' },
  file: { is_reportable: true },
  all: {},
} as const;
type View = keyof typeof VIEWS;
const FORMATS = ['filing_service', 'iris', 'tin_matching'] as const;

const usd = (amount: number) => money({ amount, currency: 'usd' });

/** /reports/us-tax */
export function UsTaxReportScreen() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const [isExporting, setExporting] = useState(false);
  const thisYear = new Date(serverNow()).getUTCFullYear();
  const { year = thisYear, view = 'w9' } = search;
  const { data: report, error, refetch } = useRead('getUsTaxReport', { query: { year: String(year) } });
  const list = useList('listUsTaxReport', {
    filters: { year: String(year), ...VIEWS[view] },
    place: search,
    onPlace: (next) => void navigate({ search: { ...search, page: undefined, ...next } }),
  });
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          <ListMenu {...list} />
          <Select
            label={texts.year}
            value={String(year)}
            options={yearsUntil(Math.max(thisYear, year))}
            onChange={(chosen) => void navigate({ search: { view: search.view, year: Number(chosen) } })}
          />
          {may.tax_ids && report && (
            <Button
              icon="download"
              isDisabled={report.reportable.affiliate_count === 0}
              onPress={() => setExporting(true)}
            >
              {texts.export}
            </Button>
          )}
        </>
      }
    >
      <Reports by={null} />
      <Notice>
        <p>{texts.remark}</p>
        {!may.tax_ids && <p>{texts.notAllowed}</p>}
      </Notice>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {report === undefined ? !error && <Skeleton lines={4} /> : <Sums report={report} />}
      {!error && (
        <>
          <Views report={report} view={view} />
          <Listing
            {...list}
            label={texts.title}
            columns={COLUMNS}
            keyOf={({ affiliate_id }) => String(affiliate_id)}
            empty={<Empty icon="check" title={texts.empty[view]} />}
          />
        </>
      )}
      {isExporting && report && <Export report={report} onClose={() => setExporting(false)} />}
    </Page>
  );
}

const yearsUntil = (last: number) =>
  Array.from({ length: last - FIRST_YEAR + 1 }, (_, back) => String(last - back)).map((year) => ({
    value: year,
    label: year,
  }));

/** The sums of the year, with notes. */
function Sums({ report }: { report: UsTaxReport }) {
  const { sums } = texts;
  const threshold = usd(report.threshold_amount);
  const { reportable, missing_tax_id_count: withoutId, other_currency_count: others } = report;
  const notes = [
    ...(report.is_threshold_known ? [] : [texts.unknownThreshold(report.year, threshold)]),
    ...(withoutId === 0 ? [] : [texts.missingTaxId(withoutId)]),
    ...(others === 0 ? [] : [texts.otherCurrencies(others)]),
    ...report.states.map(({ state, threshold_amount, affiliate_count }) =>
      texts.state(state, usd(threshold_amount), affiliate_count),
    ),
  ];
  return (
    <Card>
      <Facts
        rows={[
          [
            sums.reportable(threshold),
            <Sum
              key="file"
              amount={reportable.amount}
              second={sums.reportableHint(texts.people(reportable.affiliate_count))}
            />,
          ],
          [
            sums.processor,
            <Sum key="processor" amount={report.processor_amount} second={sums.processorHint} />,
          ],
          ...(report.withheld_amount === 0
            ? []
            : [
                [
                  sums.withheld,
                  <Sum key="withheld" amount={report.withheld_amount} second={sums.withheldHint} />,
                ] as const,
              ]),
        ]}
      />
      {notes.map((note) => (
        <p key={note} className="hint">
          {note}
        </p>
      ))}
    </Card>
  );
}

function Sum({ amount, second }: { amount: number; second: string }) {
  return (
    <>
      <Money amount={amount} currency="usd" isStrong />
      <span className="second">{second}</span>
    </>
  );
}

/** The selection of rows. Missing forms come first. */
function Views({ report, view }: { report: UsTaxReport | undefined; view: View }) {
  const { year } = route.useSearch();
  const counts: Partial<Record<View, number>> = {
    ...(report && {
      w9: report.missing_w9_count,
      w8: report.missing_w8_count,
      file: report.reportable.affiliate_count,
    }),
  };
  return (
    <Tabs label={texts.show}>
      {(Object.keys(VIEWS) as View[]).map((each) => (
        <Link
          key={each}
          to="/reports/us-tax"
          search={{ year, view: each === 'w9' ? undefined : each }}
          className={each === view ? 'active' : undefined}
          activeProps={{}}
        >
          {texts.views[each]}
          {counts[each] !== undefined && ` (${counts[each].toLocaleString()})`}
        </Link>
      ))}
    </Tabs>
  );
}

const COLUMNS: readonly Column<UsTaxRow>[] = [
  {
    title: texts.columns.affiliate,
    sort: 'affiliate_id',
    cell: ({ affiliate_id, legal_name, name, email }) => (
      <>
        <Link {...rowLink} to="/affiliates/$id" params={{ id: String(affiliate_id) }}>
          <Name>{legal_name ?? name ?? email}</Name>
        </Link>
        {(legal_name ?? name) !== null && <span className="second">{email}</span>}
      </>
    ),
  },
  {
    title: texts.columns.residence,
    isWide: true,
    cell: ({ residence, country }) => (
      <>
        {texts.residences[residence]}
        {country !== null && residence !== 'us' && <span className="second">{country}</span>}
      </>
    ),
  },
  { title: texts.columns.form, isBelow: true, cell: (row) => <Form row={row} /> },
  {
    title: texts.columns.taxId,
    isWide: true,
    cell: ({ tax_id_type: type, tax_id_ending: ending }) =>
      type === null ? <span className="soft">{texts.noTaxId}</span> : `${tax.taxIdTypes[type]} …${ending}`,
  },
  {
    title: texts.columns.reportable,
    sort: 'reportable_amount',
    isFigure: true,
    cell: ({ reportable_amount, is_above_threshold, withheld_amount }) => (
      <>
        <Money amount={reportable_amount} currency="usd" isStrong={is_above_threshold} />
        {withheld_amount !== 0 && <span className="second">{texts.withheldOf(usd(withheld_amount))}</span>}
      </>
    ),
  },
  {
    title: texts.columns.processor,
    isFigure: true,
    isWide: true,
    cell: ({ processor_amount }) => <Money amount={processor_amount} currency="usd" />,
  },
  { title: texts.columns.ways, isFigure: true, isWide: true, cell: (row) => <Ways row={row} /> },
];

function Form({ row: { form, missing_form: missing } }: { row: UsTaxRow }) {
  if (missing !== null) return <Status tone="warn" label={texts.missingForms[missing]} />;
  return form === null ? <span className="soft">{common.nothing}</span> : tax.forms[form];
}

/** Every payout method and currency, net of returned money. */
function Ways({ row: { payments } }: { row: UsTaxRow }) {
  return (
    <span className="moneys">
      {payments.map(({ method, currency, net_amount }) => (
        <span key={`${method} ${currency}`}>
          <span className="soft">{affiliates.method[method]}</span>{' '}
          <Money amount={net_amount} currency={currency} />
        </span>
      ))}
    </span>
  );
}

function Export({ report: { year, reportable }, onClose }: { report: UsTaxReport; onClose: () => void }) {
  const [format, setFormat] = useState<(typeof FORMATS)[number]>('filing_service');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      saveFile(await download('exportUsTaxReport', { query: { year: String(year), format } }));
      onClose();
    } catch (refused) {
      setError(refused as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Confirm
      title={texts.exportTitle(year)}
      action={texts.exportAction}
      isBusy={isBusy}
      error={error}
      onConfirm={() => void save()}
      onClose={onClose}
    >
      <SelectField
        label={texts.format}
        hint={texts.formatHints[format]}
        value={format}
        options={optionsOf(FORMATS, texts.formats)}
        onChange={setFormat}
      />
      <p>{format === 'tin_matching' ? texts.tinLead : texts.exportLead(reportable.affiliate_count)}</p>
    </Confirm>
  );
}
