import { getRouteApi, Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { NotSent, WebhookEventAt } from '../../../src/client/api.ts';
import { useEventWithPayload } from '../../data/payload.ts';
import { ChangedFields } from '../../parts/changed-fields.tsx';
import { Code } from '../../parts/code.tsx';
import { Id } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Card, Facts, Page } from '../../parts/page.tsx';
import { type Column, rowLink, Table } from '../../parts/table.tsx';
import { DELIVERY_TONES } from '../../parts/tones.ts';
import { Path, Status, Time } from '../../parts/values.tsx';
import { common } from '../../texts/common.ts';
import { events as texts } from '../../texts/events.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { Deliveries } from './list.tsx';

const route = getRouteApi('/events/$id');
const SENT: readonly Column<WebhookEventAt>[] = [
  {
    title: webhooks.endpoint,
    cell: ({ id, webhook_endpoint_id: at, url }) => (
      <Link {...rowLink} to="/webhooks/$id" params={{ id: at }} search={{ event: id, at, id }}>
        <Path>{webhooks.nameOf({ url, id: at })}</Path>
      </Link>
    ),
  },
  {
    title: webhooks.status,
    cell: ({ status }) => <Status tone={DELIVERY_TONES[status]} label={webhooks.log.statuses[status]} />,
  },
  {
    title: webhooks.log.answer,
    cell: ({ last_response_status, last_error_code }) =>
      last_response_status ?? last_error_code ?? common.nothing,
  },
  {
    title: webhooks.log.attempts,
    isFigure: true,
    isWide: true,
    cell: ({ attempt_count }) => whole(attempt_count),
  },
  {
    title: webhooks.log.next,
    isWide: true,
    cell: ({ next_attempt_at }) => <Time at={next_attempt_at} />,
  },
];

const NOT_SENT: readonly Column<NotSent>[] = [
  {
    title: webhooks.endpoint,
    cell: ({ webhook_endpoint_id: id, url }) => (
      <Link {...rowLink} to="/webhooks/$id" params={{ id }}>
        <Path>{webhooks.nameOf({ url, id })}</Path>
      </Link>
    ),
  },
  { title: texts.why, cell: ({ reason }) => texts.reasons[reason] },
];

/** The tags of an event; each leads to the events that have it. */
const Tags = ({ of }: { of: readonly string[] }) =>
  of.map((tag, index) => (
    <Fragment key={tag}>
      {index > 0 && ', '}
      <Link to="/events" search={{ tag }}>
        {tag}
      </Link>
    </Fragment>
  ));

/** /events/{id}: a published event, its deliveries, and why other endpoints did not get it */
export function EventScreen() {
  const { id } = route.useParams();
  const reading = useEventWithPayload('getEvent', { path: [id] }, { isLive: true });
  const { event, payload = '', error, refetch } = reading;
  const above = (
    <Link to="/events">
      <Icon name="left" />
      {texts.title}
    </Link>
  );
  if (event === undefined || error) {
    return (
      <Page title={texts.id} above={above}>
        {error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton lines={6} />}
      </Page>
    );
  }
  return (
    <Page above={above} title={<Path>{event.type}</Path>} name={event.type}>
      <Card>
        <Facts
          rows={[
            [texts.id, <Id key="id">{id}</Id>],
            [texts.created, <Time key="created" at={event.created_at} isFocusable />],
            [texts.externalId, event.external_id ?? common.nothing],
            ...(event.owner === null ? [] : [[texts.owner, event.owner] as const]),
            ...(event.ordering_key === null ? [] : [[texts.orderingKey, event.ordering_key] as const]),
            ...(event.tags.length === 0 ? [] : [[texts.tags, <Tags key="tags" of={event.tags} />] as const]),
            [texts.deliveries, <Deliveries key="deliveries" counts={event.deliveries} />],
          ]}
        />
      </Card>
      <h2 className="event-part">{texts.sentTo}</h2>
      {event.sent_to.length === 0 ? (
        <p className="soft">{texts.sentNowhere}</p>
      ) : (
        <Table
          label={texts.sentTo}
          columns={SENT}
          rows={event.sent_to}
          keyOf={({ webhook_endpoint_id }) => webhook_endpoint_id}
        />
      )}
      {event.not_sent_to.length > 0 && (
        <>
          <h2 className="event-part">{texts.notSentTo}</h2>
          <Table
            label={texts.notSentTo}
            columns={NOT_SENT}
            rows={event.not_sent_to}
            keyOf={({ webhook_endpoint_id }) => webhook_endpoint_id}
          />
        </>
      )}
      <ChangedFields
        payload={event.payload}
        heading={<h2 className="event-part">{texts.changes.title}</h2>}
      />
      <h2 className="event-part">{texts.payload}</h2>
      <Code label={texts.payload} copyLabel={texts.copyPayload} fileName={`${id}.json`}>
        {payload}
      </Code>
    </Page>
  );
}
