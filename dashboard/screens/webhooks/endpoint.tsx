import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookEndpoint, WebhookEvent } from '../../../src/client/api.ts';
import { useMay, usePortal } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useList } from '../../parts/list.tsx';
import { useLive } from '../../parts/live.tsx';
import { Page, Tabs } from '../../parts/page.tsx';
import { rowLink } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Path, Time } from '../../parts/values.tsx';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { Charts } from './charts.tsx';
import { ResendSinceFailing } from './failing.tsx';
import { type LogSearch, logFilters } from './filters.tsx';
import { Log } from './log.tsx';
import { SendMissing } from './missing.tsx';
import { PortalLinks } from './portal-links.tsx';
import { Recover } from './recover.tsx';
import { Recoveries } from './recoveries.tsx';
import { EndpointSettings } from './settings.tsx';
import { EndpointState } from './state.tsx';
import { SendTest } from './test.tsx';

const route = getRouteApi('/webhooks/$id');
const VIEWS = ['log', 'charts', 'recoveries', 'portals', 'settings'] as const;

/** /webhooks/{id} */
export function EndpointScreen() {
  const { id } = route.useParams();
  const { data: endpoint, error, refetch } = useRead('getWebhookEndpoint', { path: [id] }, { isLive: true });
  if (endpoint !== undefined && !error) return <Endpoint endpoint={endpoint} />;
  return (
    <Page title={texts.endpoint} above={<Back />}>
      {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} />}
    </Page>
  );
}

function Back() {
  const portal = usePortal();
  // a portal of one endpoint has no list
  if (portal !== null && portal.owner === null) return null;
  return (
    <Link to="/webhooks">
      <Icon name="left" />
      {texts.title}
    </Link>
  );
}

function Endpoint({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, description, status, first_failure_at, last_success_at } = endpoint;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const portal = usePortal();
  const [isTesting, setTesting] = useState(false);
  const { view = 'log' } = search;
  const change = (next: LogSearch) => void navigate({ search: { ...search, ...next } });
  return (
    <Page
      above={<Back />}
      title={<Path>{texts.nameOf(endpoint)}</Path>}
      name={texts.nameOf(endpoint)}
      lead={description ?? undefined}
      status={<EndpointState endpoint={endpoint} />}
      actions={
        may.webhooks && (
          <Button
            isDisabled={status === 'disabled'}
            title={status === 'disabled' ? texts.disabledNotice : undefined}
            onPress={() => setTesting(true)}
          >
            {texts.test}
          </Button>
        )
      }
    >
      {status === 'disabled' && <Notice tone="warn">{texts.disabledNotice}</Notice>}
      {status === 'enabled' && first_failure_at && (
        <Notice tone="warn" actions={<ResendSinceFailing endpoint={endpoint} />}>
          <p>
            <b>
              {texts.failingSince} <Time at={first_failure_at} isAbsolute />
            </b>{' '}
            · {texts.lastSuccess}: <Time at={last_success_at} />
          </p>
          <p>{texts.failingNotice}</p>
        </Notice>
      )}
      <Tabs label={texts.endpoint}>
        {VIEWS.filter((each) => portal === null || each !== 'portals').map((each) => (
          <Link
            key={each}
            to="/webhooks/$id"
            params={{ id }}
            search={each === 'log' ? {} : { view: each }}
            className={each === view ? 'active' : ''}
            activeProps={{ className: '' }}
            aria-current={each === view ? 'page' : undefined}
          >
            {texts.one[each]}
          </Link>
        ))}
      </Tabs>
      {view === 'settings' && <EndpointSettings endpoint={endpoint} />}
      {view === 'portals' && portal === null && <PortalLinks endpoint={endpoint} />}
      {view === 'charts' && (
        <Charts
          of={{ endpoint: id }}
          span={search.span ?? '24h'}
          onSpan={(span) => void navigate({ search: { view, span } })}
        />
      )}
      {view === 'recoveries' && (
        <>
          <SendMissing endpoint={endpoint} />
          <Recoveries endpoint={id} place={search} onPlace={change} />
        </>
      )}
      {view === 'log' && <EndpointLog endpoint={endpoint} onChange={change} />}
      {isTesting && (
        <SendTest
          endpoint={id}
          onClose={() => setTesting(false)}
          onSent={(event) => {
            toast(texts.tested);
            setTesting(false);
            void navigate({ search: { event: event.id, at: id } });
          }}
        />
      )}
    </Page>
  );
}

const linkTo = ({ id, type, webhook_endpoint_id: at }: WebhookEvent) => (
  <Link
    {...rowLink}
    from="/webhooks/$id"
    to="/webhooks/$id"
    params={{ id: at }}
    search={(now) => ({ ...now, event: id, at })}
  >
    <Path>{type}</Path>
  </Link>
);

function EndpointLog({
  endpoint,
  onChange,
}: {
  endpoint: WebhookEndpoint;
  onChange: (next: LogSearch) => void;
}) {
  const { id } = endpoint;
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const may = useMay();
  const list = useList('listEventsOfWebhookEndpoint', {
    path: [id],
    filters: logFilters(search),
    place: search,
    onPlace: onChange,
    isLive: useLive(),
    countsLater: true,
  });
  return (
    <Log
      list={list}
      search={search}
      onChange={onChange}
      linkTo={linkTo}
      actions={(total) =>
        may.webhooks && (
          <Recover
            endpoint={endpoint}
            search={search}
            total={total}
            onStarted={() => void navigate({ search: { view: 'recoveries' } })}
          />
        )
      }
    />
  );
}
