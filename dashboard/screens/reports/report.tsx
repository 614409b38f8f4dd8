import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReportSummary } from '../../../src/client/api.ts';
import { countryName } from '../../../src/terms/countries.ts';
import { download } from '../../data/api.ts';
import { pageSize } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Problem } from '../../parts/feedback.tsx';
import { day } from '../../parts/format.ts';
import { Pager } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save.ts';
import { Table } from '../../parts/table.tsx';
import { reports as texts } from '../../texts/reports.ts';
import { columnsFor, type Line, type Shown } from './figures.tsx';
import { Period } from './period.tsx';
import { Views } from './views.tsx';

const route = getRouteApi('/reports');

/** /reports */
export function ReportScreen() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { by = 'currency', period, from, to, country, currency, page = 1 } = search;
  const query = { by, period, from, to, country, currency };
  const size = Number(pageSize.use());
  const { data, error, refetch } = useRead('getReportSummary', { query: { ...query, page, per_page: size } });
  const report = data?.by === by ? data : undefined;
  const days = { from: data?.from ?? undefined, to: data?.to ?? undefined };
  const [unsaved, setUnsaved] = useState<Error | null>(null);
  const remark = by === 'method' || by === 'program' || by === 'country' ? texts.remarks[by] : null;
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <Files
          query={query}
          onError={setUnsaved}
          isDisabled={report === undefined || report.row_count === 0}
        />
      }
    >
      <Views by={by} period={{ period, from, to }} />
      <div className="filters">
        <Period
          value={{ period, from, to }}
          shown={days}
          onChange={(next) => void navigate({ search: { by: search.by, country, currency, ...next } })}
        />
        {data && !error && <span className="soft">{describeDays(data)}</span>}
        {remark && <span className="soft">{remark}</span>}
        {country !== undefined && (
          <span className="soft">
            {country === 'none' ? texts.noCountry : texts.onlyCountry(countryName(country) ?? country)}{' '}
            <Link to="/reports" search={{ ...search, country: undefined, page: undefined }}>
              {texts.allCountries}
            </Link>
          </span>
        )}
        {currency !== undefined && (
          <span className="soft">
            {texts.onlyCurrency(currency.toUpperCase())}{' '}
            <Link to="/reports" search={{ ...search, currency: undefined, page: undefined }}>
              {texts.allCurrencies}
            </Link>
          </span>
        )}
      </div>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {unsaved && <Problem error={unsaved} />}
      {!error && (
        <Rows
          report={report}
          shown={{ by, period: { period, from, to }, days }}
          hasTotals={country === undefined}
          onPage={(next) => void navigate({ search: { ...search, page: next === 1 ? undefined : next } })}
        />
      )}
    </Page>
  );
}

function describeDays({ from, to, time_zone: zone }: ReportSummary): string {
  return texts.days(from === null ? texts.beginning : day(from), to === null ? texts.now : day(to), zone);
}

function Rows({
  report,
  shown,
  hasTotals,
  onPage,
}: {
  report: ReportSummary | undefined;
  shown: Shown;
  hasTotals: boolean;
  onPage: (page: number) => void;
}) {
  if (report?.row_count === 0) {
    return report.totals.length === 0 ? (
      <Empty icon="file" title={texts.empty.title}>
        {texts.empty.lead}
      </Empty>
    ) : (
      <Empty icon="file" title={texts.empty.group} />
    );
  }
  const rows: readonly Line[] = report?.rows ?? [];
  const totals = hasTotals && shown.by !== 'currency' ? (report?.totals ?? []) : [];
  // the rows of each currency, then their total
  const lines = rows.flatMap((row, index): Line[] => {
    const isLast = rows[index + 1]?.currency !== row.currency;
    const total = isLast && totals.find(({ currency }) => currency === row.currency);
    return total ? [row, { key: null, name: null, ...total, isTotal: true }] : [row];
  });
  return (
    <>
      <Table
        label={texts.by[shown.by]}
        isStacked
        columns={columnsFor(lines, shown)}
        rows={report && lines}
        keyOf={({ key, currency, isTotal }) => `${isTotal ? 'total' : key} ${currency}`}
      />
      {report && report.row_count > report.rows.length && (
        <Pager
          label={texts.by[shown.by]}
          pagination={{ page: report.page, limit: report.per_page, total: report.row_count }}
          onPage={onPage}
        />
      )}
    </>
  );
}

/** Downloads the report. */
function Files({
  query,
  isDisabled,
  onError,
}: {
  query: {
    readonly by: Shown['by'];
    readonly country?: string | undefined;
    readonly currency?: string | undefined;
  } & Shown['period'];
  isDisabled: boolean;
  onError: (error: Error | null) => void;
}) {
  const [busy, setBusy] = useState<'csv' | 'pdf' | null>(null);
  const save = async (format: 'csv' | 'pdf') => {
    setBusy(format);
    onError(null);
    try {
      saveFile(await download('downloadReportSummary', { query: { ...query, format } }));
    } catch (refused) {
      onError(refused as Error);
    } finally {
      setBusy(null);
    }
  };
  return (
    <>
      <Button
        icon="download"
        isBusy={busy === 'csv'}
        isDisabled={isDisabled}
        onPress={() => void save('csv')}
      >
        {texts.csv}
      </Button>
      <Button icon="file" isBusy={busy === 'pdf'} isDisabled={isDisabled} onPress={() => void save('pdf')}>
        {texts.pdf}
      </Button>
    </>
  );
}
