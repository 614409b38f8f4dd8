import { getRouteApi, Link } from '@tanstack/react-router';
import type { DeliveryCounts, PublishedEvent } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, NoMatch, Notice } from '../../parts/feedback.tsx';
import { DayField, SearchField } from '../../parts/field.tsx';
import { FoldedFilters, setIn } from '../../parts/fold.tsx';
import { whole } from '../../parts/format.ts';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { LiveSwitch, useLive } from '../../parts/live.tsx';
import { Page } from '../../parts/page.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { DELIVERY_TONES } from '../../parts/tones.ts';
import { LineId, Path, Status, Time } from '../../parts/values.tsx';
import { common } from '../../texts/common.ts';
import { events as texts } from '../../texts/events.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { Publish } from './publish.tsx';
import { Views } from './views.tsx';

const route = getRouteApi('/events');
const COLUMNS: readonly Column<PublishedEvent>[] = [
  {
    title: texts.type,
    cell: ({ id, type, created_at }) => (
      <>
        <Link {...rowLink} to="/events/$id" params={{ id }}>
          <Path>{type}</Path>
        </Link>
        <span className="second">
          <LineId>{id}</LineId>
        </span>
        <span className="second narrow-only">
          <Time at={created_at} />
        </span>
      </>
    ),
  },
  { title: texts.deliveries, cell: ({ deliveries }) => <Deliveries counts={deliveries} /> },
  { title: texts.externalId, isWide: true, cell: ({ external_id }) => external_id ?? common.nothing },
  { title: texts.created, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** The deliveries of an event by status. */
export function Deliveries({ counts }: { counts: DeliveryCounts }) {
  const statuses = (['failed', 'pending', 'held', 'cancelled', 'delivered'] as const).filter(
    (each) => counts[each] > 0,
  );
  const filtered = counts.filtered > 0 && (
    <span className="soft">{texts.filteredOut(whole(counts.filtered))}</span>
  );
  if (statuses.length === 0) return filtered || <span className="soft">{texts.nobody}</span>;
  return (
    <>
      {statuses.map((each) => (
        <span key={each}>
          <Status
            tone={DELIVERY_TONES[each]}
            label={`${whole(counts[each])} ${webhooks.log.statuses[each].toLowerCase()}`}
          />{' '}
        </span>
      ))}
      {filtered}
    </>
  );
}

/** /events */
export function EventList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const { type, own, owner, tag, from, until } = search;
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listEvents', {
    filters: { type, external_id: own, owner, tag, 'created_at[gte]': from, 'created_at[lte]': until },
    place: search,
    onPlace: change,
    isLive: useLive(),
    countsLater: true,
  });
  const setOpen = (open: typeof search.open) => void navigate({ search: { ...search, open } });
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          <ListMenu {...list} />
          {may.own && (
            <Button kind="primary" icon="plus" onPress={() => setOpen('publish')}>
              {texts.publish.title}
            </Button>
          )}
        </>
      }
    >
      <Views />
      {search.open === 'publish' && !may.own && <Notice>{texts.publish.whoMay}</Notice>}
      <FoldedFilters
        first={
          <SearchField
            label={texts.typeFilter}
            value={type ?? ''}
            onChange={(text) => change({ type: text.trim() || undefined })}
          />
        }
        set={setIn({ own, owner, tag, from, until })}
      >
        <SearchField
          label={texts.externalFilter}
          value={own ?? ''}
          onChange={(text) => change({ own: text.trim() || undefined })}
        />
        <SearchField
          label={texts.ownerFilter}
          value={owner ?? ''}
          onChange={(text) => change({ owner: text.trim() || undefined })}
        />
        <SearchField
          label={texts.tag}
          value={tag ?? ''}
          onChange={(text) => change({ tag: text.trim() || undefined })}
        />
        <DayField label={webhooks.log.from} value={from} onChange={(day) => change({ from: day })} />
        <DayField label={webhooks.log.until} value={until} onChange={(day) => change({ until: day })} />
        <LiveSwitch />
      </FoldedFilters>
      <Listing
        {...list}
        label={texts.title}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          list.isFiltered ? (
            <NoMatch title={texts.filtered} onClear={() => void navigate({ search: {} })} />
          ) : (
            <Empty icon="events" title={texts.empty}>
              {texts.emptyLead}
              {!may.own && <p>{texts.publish.whoMay}</p>}
            </Empty>
          )
        }
      />
      {search.open === 'publish' && may.own && (
        <Publish
          onClose={() => setOpen(undefined)}
          onDone={({ id }) => {
            toast(texts.publish.done);
            void navigate({ to: '/events/$id', params: { id } });
          }}
        />
      )}
    </Page>
  );
}
