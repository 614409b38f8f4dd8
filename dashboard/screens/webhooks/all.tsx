import { getRouteApi, Link } from '@tanstack/react-router';
import { pageSize } from '../../data/preferences.ts';
import { copyCurl } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Page } from '../../parts/page.tsx';
import { rowLink } from '../../parts/table.tsx';
import { common } from '../../texts/common.ts';
import { webhooks as texts } from '../../texts/webhooks.ts';
import { logQuery } from './filters.tsx';
import { Log } from './log.tsx';
import { Views } from './views.tsx';

const route = getRouteApi('/webhooks/log');

/** /webhooks/log: the log of all endpoints */
export function WholeLog() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = {
    ...logQuery(search),
    webhook_endpoint_id: search.endpoint,
    per_page: Number(pageSize.use()),
  };
  const curl = {
    label: common.copyAsCurl,
    icon: 'copy',
    onPress: () => copyCurl('listWebhookEvents', { query }),
  } as const;
  return (
    <Page
      title={texts.title}
      name={`${texts.views.log} · ${texts.title}`}
      lead={texts.lead}
      actions={
        <Menu label={common.more} groups={[{ items: [curl] }]}>
          <Icon name="dots" />
        </Menu>
      }
    >
      <Views />
      <Log
        search={search}
        onChange={(next) => void navigate({ search: { ...search, ...next } })}
        linkTo={(event) => (
          <Link
            {...rowLink}
            from="/webhooks/log"
            to="/webhooks/log"
            search={(now) => ({ ...now, event: event.id, at: event.webhook_endpoint_id })}
          >
            {event.type}
          </Link>
        )}
      />
    </Page>
  );
}
