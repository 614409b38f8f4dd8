import { getRouteApi, Link } from '@tanstack/react-router';
import type { Import, ImportCounts } from '../../../src/client/api.ts';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { FilterSelect } from '../../parts/field.tsx';
import { useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Moneys, Name, Time } from '../../parts/values.tsx';
import { listed } from '../../texts/common.ts';
import { imports } from '../../texts/imports.ts';
import { ImportDrawer, ImportStatus } from './record.tsx';

const texts = imports.records;
const route = getRouteApi('/import');

/** The result counts of a file, as parts of a sentence. */
export const resultParts = (counts: Omit<ImportCounts, 'errors' | 'groups' | 'totals'>): string[] =>
  (['created', 'updated', 'unchanged', 'skipped', 'failed', 'payouts'] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => imports.parts[name](counts[name]));

const COLUMNS: readonly Column<Import>[] = [
  {
    title: texts.file,
    cell: ({ id, kind, file }) => (
      <>
        <Link
          {...rowLink}
          from="/import"
          to="/import"
          search={(search) => ({ ...search, import: id })}
          resetScroll={false}
        >
          <Name>{file.name ?? texts.noName}</Name>
        </Link>
        <span className="second">{imports.kinds[kind]}</span>
      </>
    ),
  },
  { title: texts.result, cell: (each) => listed(resultParts(each)) },
  { title: texts.sums, isFigure: true, isWide: true, cell: ({ totals }) => <Moneys amounts={totals} /> },
  { title: texts.status, isWide: true, cell: ({ status }) => <ImportStatus status={status} /> },
  {
    title: texts.created,
    sort: 'created_at',
    isBelow: true,
    cell: ({ created_at, status }) => (
      <>
        <Time at={created_at} />
        {status === 'undone' && <span className="second narrow-only">{texts.statuses.undone}</span>}
      </>
    ),
  },
];

/** Past imports; a row opens in a drawer. */
export function Records() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { of, status } = search;
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next }, resetScroll: false });
  const list = useList('listImports', { filters: { kind: of, status }, place: search, onPlace: change });
  return (
    <section className="import-records">
      <h2>{texts.title}</h2>
      <div className="filters">
        <FilterSelect
          label={imports.kind}
          any={texts.anyKind}
          value={of}
          options={[
            { value: 'affiliates', label: imports.kinds.affiliates },
            { value: 'commissions', label: imports.kinds.commissions },
          ]}
          onChange={(kind) => change({ of: kind })}
        />
        <FilterSelect
          label={texts.status}
          any={texts.anyStatus}
          value={status}
          options={[
            { value: 'completed', label: texts.statuses.completed },
            { value: 'undone', label: texts.statuses.undone },
          ]}
          onChange={(next) => change({ status: next })}
        />
      </div>
      <Listing
        {...list}
        label={texts.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.filtered} onClear={() => change({ of: undefined, status: undefined })} />
          ) : (
            <Empty icon="import" title={texts.empty}>
              {texts.emptyLead}
            </Empty>
          )
        }
      />
      {search.import && (
        <ImportDrawer
          key={search.import}
          id={search.import}
          onClose={() => void navigate({ search: { ...search, import: undefined }, resetScroll: false })}
        />
      )}
    </section>
  );
}
