import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DeliveryStatus, NewWebhookEndpoint, WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay, usePortal } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, NoMatch } from '../../parts/feedback.tsx';
import { FilterSelect, SearchField } from '../../parts/field.tsx';
import { whole } from '../../parts/format.ts';
import { ListMenu, useList } from '../../parts/list.tsx';
import { Listing } from '../../parts/listing.tsx';
import { Page } from '../../parts/page.tsx';
import { SecretOnce } from '../../parts/secret.tsx';
import { type Column, rowLink } from '../../parts/table.tsx';
import { Path, Prose, Time } from '../../parts/values.tsx';
import { common } from '../../texts/common.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { Charts } from './charts.tsx';
import { CreateEndpoint } from './create.tsx';
import { FailingEndpoints } from './failing.tsx';
import { DayFailureRate, DayLatency, DaySparkline } from './figures.tsx';
import { EndpointState } from './state.tsx';
import { Views } from './views.tsx';
import './webhooks.css';

const route = getRouteApi('/webhooks');

const COLUMNS: readonly Column<WebhookEndpoint>[] = [
  {
    title: texts.url,
    cell: ({ id, url, description, owner }) => (
      <>
        <Link {...rowLink} to="/webhooks/$id" params={{ id }}>
          <Path>{texts.nameOf({ id, url })}</Path>
        </Link>
        {description && <span className="second">{description}</span>}
        {owner && <span className="second">{texts.ofOwner(owner)}</span>}
      </>
    ),
  },
  {
    title: texts.status,
    cell: (endpoint) => (
      <>
        <EndpointState endpoint={endpoint} />
        {endpoint.status === 'enabled' && endpoint.first_failure_at && (
          <span className="second">
            <Time at={endpoint.first_failure_at} />
          </span>
        )}
      </>
    ),
  },
  { title: texts.day, isWide: true, cell: ({ id }) => <DaySparkline endpoint={id} /> },
  {
    title: texts.failureRate,
    isWide: true,
    isFigure: true,
    cell: ({ id }) => <DayFailureRate endpoint={id} />,
  },
  { title: 'p50 · p95', isWide: true, isFigure: true, cell: ({ id }) => <DayLatency endpoint={id} /> },
  {
    title: texts.waiting,
    isWide: true,
    isFigure: true,
    cell: ({ id, status, next_attempt_at }) => (
      <>
        <Counted endpoint={id} status={status === 'enabled' ? 'pending' : 'held'} />
        {next_attempt_at && (
          <span className="second">
            {texts.next} <Time at={next_attempt_at} />
          </span>
        )}
      </>
    ),
  },
  { title: texts.failed, isFigure: true, cell: ({ id }) => <Counted endpoint={id} status="failed" /> },
  { title: texts.lastSuccess, isWide: true, cell: ({ last_success_at }) => <Time at={last_success_at} /> },
];

/** The number of an endpoint's deliveries with a status, as a link to them. */
function Counted({ endpoint: id, status }: { endpoint: string; status: DeliveryStatus }) {
  const query = { status, per_page: 1 };
  const { data } = useRead('listEventsOfWebhookEndpoint', { path: [id], query }, { isLive: true });
  if (data === undefined) return <span className="soft">{common.nothing}</span>;
  const { total } = data.pagination;
  if (total === 0) return <span className="soft">0</span>;
  return (
    <Link to="/webhooks/$id" params={{ id }} search={{ status }}>
      {whole(total)}
    </Link>
  );
}

/** /webhooks */
export function EndpointList() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const portal = usePortal();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewWebhookEndpoint | null>(null);
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: { ...search, page: undefined, ...next } });
  const list = useList('listWebhookEndpoints', {
    filters: { status: search.status, owner: search.owner },
    place: search,
    onPlace: change,
  });
  // in a portal only the endpoints say whether contacts are sent anything
  const sendsToContacts =
    list.reading.data?.data.some(({ contact_status }) => contact_status !== 'off') ?? false;
  const primary = may.makeEndpoints ? (
    <Button kind="primary" icon="plus" onPress={() => setMaking(true)}>
      {texts.create.title}
    </Button>
  ) : null;
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={
        <>
          {portal === null && <ListMenu {...list} />}
          {primary}
        </>
      }
    >
      {portal === null && <Views />}
      <FailingEndpoints />
      <div className="filters">
        <FilterSelect
          label={texts.status}
          any={texts.log.anyStatus}
          value={search.status}
          options={[
            { value: 'enabled', label: texts.statuses.enabled },
            { value: 'disabled', label: texts.statuses.disabled },
          ]}
          onChange={(status) => change({ status })}
        />
        {portal === null && (
          <SearchField
            label={texts.owner}
            value={search.owner ?? ''}
            onChange={(text) => change({ owner: text.trim() || undefined })}
          />
        )}
      </div>
      <Listing
        {...list}
        label={texts.views.endpoints}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        isMarked={({ first_failure_at, status }) => status === 'enabled' && first_failure_at !== null}
        empty={
          list.isFiltered ? (
            <NoMatch
              title={texts.empty.filtered}
              onClear={() => change({ status: undefined, owner: undefined })}
            />
          ) : (
            <Empty icon="webhooks" title={texts.empty.title} actions={primary}>
              <p>{portal === null ? texts.empty.lead : texts.empty.portalLead}</p>
              {portal === null && (
                <p>
                  <Prose>{texts.empty.command}</Prose>
                </p>
              )}
            </Empty>
          )
        }
      />
      {search.owner !== undefined && portal === null && (
        <>
          <h2>{texts.chartsOf(search.owner)}</h2>
          <Charts
            of={{ owner: search.owner }}
            span={search.span ?? '24h'}
            onSpan={(span) => void navigate({ search: { ...search, span } })}
          />
        </>
      )}
      {isMaking && (
        <CreateEndpoint
          hasContact={portal === null || sendsToContacts}
          onClose={() => setMaking(false)}
          onMade={(endpoint) => {
            setMaking(false);
            setMade(endpoint);
          }}
        />
      )}
      {made && (
        <SecretOnce
          title={texts.create.made}
          lead={texts.create.secretLead}
          label={texts.secret.label}
          secret={made.secret}
          onClose={() => {
            setMade(null);
            void navigate({ to: '/webhooks/$id', params: { id: made.id } });
          }}
        />
      )}
    </Page>
  );
}
