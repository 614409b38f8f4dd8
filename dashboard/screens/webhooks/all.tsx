import { getRouteApi, Link } from '@tanstack/react-router';
import type { WebhookEvent } from '../../../src/client/api.ts';
import { ListMenu, useList } from '../../parts/list.tsx';
import { useLive } from '../../parts/live.tsx';
import { Page } from '../../parts/page.tsx';
import { rowLink } from '../../parts/table.tsx';
import { Path } from '../../parts/values.tsx';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { type LogSearch, logFilters } from './filters.tsx';
import { Log } from './log.tsx';
import { Views } from './views.tsx';

const route = getRouteApi('/webhooks/log');

const linkTo = (event: WebhookEvent) => (
  <Link
    {...rowLink}
    from="/webhooks/log"
    to="/webhooks/log"
    search={(now) => ({ ...now, event: event.id, at: event.webhook_endpoint_id })}
  >
    <Path>{event.type}</Path>
  </Link>
);

/** /webhooks/log: the log of all endpoints */
export function WholeLog() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (next: LogSearch) => void navigate({ search: { ...search, ...next } });
  const list = useList('listWebhookEvents', {
    filters: {
      ...logFilters(search),
      webhook_endpoint_id: search.endpoint,
      owner: search.owner,
      tag: search.tag,
    },
    place: search,
    onPlace: change,
    isLive: useLive(),
    countsLater: true,
  });
  return (
    <Page
      title={texts.title}
      name={`${texts.views.log} · ${texts.title}`}
      lead={texts.lead}
      actions={<ListMenu {...list} />}
    >
      <Views />
      <Log list={list} isOfAll search={search} onChange={change} linkTo={linkTo} />
    </Page>
  );
}
