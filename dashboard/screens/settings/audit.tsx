import { getRouteApi } from '@tanstack/react-router';
import type { AuditEntry } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { Actor } from '../../parts/actor.tsx';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { DayField, FilterSelect, optionsOf, SearchField } from '../../parts/field.tsx';
import { FoldedFilters, setIn } from '../../parts/fold.tsx';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import type { Column } from '../../parts/table.tsx';
import { LineId, Time } from '../../parts/values.tsx';
import { common } from '../../texts/common.ts';
import { settings } from '../../texts/settings.ts';
import { Settings } from './frame.tsx';

const texts = settings.audit;
const route = getRouteApi('/settings/audit');

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: texts.when, cell: ({ created_at }) => <Time at={created_at} /> },
  { title: texts.what, cell: ({ action }) => <code>{action}</code> },
  {
    title: texts.who,
    cell: ({ actor, user_id }) => (
      <>
        <Actor id={actor.id} />
        {user_id !== null && user_id !== actor.id && (
          <span className="second">
            {texts.onBehalf} <Actor id={user_id} />
          </span>
        )}
      </>
    ),
  },
  { title: texts.target, isWide: true, cell: ({ target }) => <LineId>{target ?? common.nothing}</LineId> },
  { title: texts.request, isWide: true, cell: ({ request_id }) => <LineId>{request_id}</LineId> },
];

/** /settings/audit */
export function AuditLog() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { kind, actor, action, target, from, until } = search;
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listAuditLog', {
    filters: {
      actor_kind: kind,
      actor_id: actor,
      action,
      target,
      'created_at[gte]': from,
      'created_at[lte]': until,
    },
    place: search,
    onPlace: change,
    isEnabled: may.own,
  });
  return (
    <Settings part="audit" lead={texts.lead} needs="own" actions={<ListMenu {...list} />}>
      <FoldedFilters
        first={
          <SearchField
            label={texts.action}
            value={action ?? ''}
            onChange={(text) => change({ action: text.trim() || undefined })}
          />
        }
        set={setIn({ kind, actor, target, from, until })}
      >
        <SearchField
          label={texts.targetFilter}
          value={target ?? ''}
          onChange={(text) => change({ target: text.trim() || undefined })}
        />
        <FilterSelect
          label={texts.who}
          any={texts.anybody}
          value={kind}
          options={optionsOf(['user', 'key', 'application', 'operator', 'portal'], texts.kinds)}
          onChange={(value) => change({ kind: value })}
        />
        <DayField label={texts.from} value={from} onChange={(day) => change({ from: day })} />
        <DayField label={texts.until} value={until} onChange={(day) => change({ until: day })} />
      </FoldedFilters>
      <Listing
        {...list}
        label={settings.parts.audit}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.filtered} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty icon="search" title={texts.empty}>
              {texts.emptyLead}
            </Empty>
          )
        }
      />
    </Settings>
  );
}
