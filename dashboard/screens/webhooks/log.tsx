import type { ReactNode } from 'react';
import type { DeliveryStatus, WebhookEvent } from '../../../src/client/api.ts';
import { pageSize } from '../../data/preferences.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/feedback.tsx';
import { DayField, SearchField, Select } from '../../parts/field.tsx';
import { whole } from '../../parts/format.ts';
import { Listing } from '../../parts/listing.tsx';
import type { Column } from '../../parts/table.tsx';
import { Status, Time } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { Delivery } from './delivery.tsx';
import './webhooks.css';

const texts = webhooks.log;
const TONES = { pending: 'info', delivered: 'good', failed: 'bad', held: 'neutral' } as const;
const STATUSES = ['failed', 'pending', 'held', 'delivered'] as const;
const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

/** What a log is filtered by, as it stands in the address. */
export interface LogSearch {
  readonly page?: number | undefined;
  readonly status?: DeliveryStatus | undefined;
  readonly type?: string | undefined;
  readonly answer?: (typeof CLASSES)[number] | undefined;
  readonly error?: string | undefined;
  readonly id?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  readonly event?: string | undefined;
  readonly at?: string | undefined;
}

/** The query of a log, as the API takes it. */
export function logQuery({ page, status, type, answer, error, id, from, until }: LogSearch) {
  return {
    page,
    status,
    type,
    response_class: answer,
    error_code: error,
    event_id: id,
    'created_at[gte]': from,
    'created_at[lte]': until,
  };
}

interface LogProps {
  /** The endpoint whose log it is; without it that of all. */
  readonly endpoint?: string;
  readonly search: LogSearch;
  readonly onChange: (next: LogSearch) => void;
  /** The link of a row, which opens its delivery. */
  readonly linkTo: (event: WebhookEvent) => ReactNode;
  /** Above the rows, told how many there are. */
  readonly actions?: (total: number | undefined) => ReactNode;
}

/** Deliveries, one row each, with the filters that find them; a row opens at the side. */
export function Log({ endpoint, search, onChange, linkTo, actions }: LogProps) {
  const query = { ...logQuery(search), per_page: Number(pageSize.use()) };
  const options = { isLive: true, keepsPrevious: true };
  const all = useRead('listWebhookEvents', { query }, { ...options, isEnabled: endpoint === undefined });
  const own = useRead(
    'listEventsOfWebhookEndpoint',
    { path: [endpoint ?? ''], query },
    { ...options, isEnabled: endpoint !== undefined },
  );
  const reading = endpoint === undefined ? all : own;
  const filter = (next: LogSearch) => onChange({ page: undefined, ...next });
  const { status, type, answer, error, id, from, until } = search;
  const isFiltered = Boolean(status ?? type ?? answer ?? error ?? id ?? from ?? until);
  const clear = () =>
    filter({
      status: undefined,
      type: undefined,
      answer: undefined,
      error: undefined,
      id: undefined,
      from: undefined,
      until: undefined,
    });
  return (
    <>
      <Filters search={search} onFilter={filter} onClear={isFiltered ? clear : undefined} />
      {actions?.(reading.data?.pagination.total)}
      <Listing
        label={webhooks.views.log}
        reading={reading}
        columns={columnsWith(linkTo)}
        keyOf={(event) => `${event.id} ${event.webhook_endpoint_id}`}
        onPage={(page) => onChange({ page })}
        empty={
          <Empty icon="webhooks" title={texts.empty}>
            {isFiltered ? texts.filtered : texts.emptyLead}
          </Empty>
        }
      />
      {search.event && search.at && (
        <Delivery
          endpoint={search.at}
          event={search.event}
          onClose={() => onChange({ event: undefined, at: undefined })}
        />
      )}
    </>
  );
}

function Filters({
  search: { status, type, answer, error, id, from, until },
  onFilter,
  onClear,
}: {
  search: LogSearch;
  onFilter: (next: LogSearch) => void;
  onClear: (() => void) | undefined;
}) {
  return (
    <div className="filters">
      <Select
        label={webhooks.status}
        value={status ?? ''}
        options={[
          { value: '', label: texts.anyStatus },
          ...STATUSES.map((value) => ({ value, label: texts.statuses[value] })),
        ]}
        onChange={(value) => onFilter({ status: value === '' ? undefined : value })}
      />
      <Select
        label={texts.answer}
        value={answer ?? ''}
        options={[
          { value: '', label: texts.anyAnswer },
          ...CLASSES.map((value) => ({ value, label: texts.classes[value] })),
        ]}
        onChange={(value) => onFilter({ answer: value === '' ? undefined : value })}
      />
      <Select
        label={webhooks.delivery.why}
        value={error ?? ''}
        options={[
          { value: '', label: texts.anyError },
          ...[...new Set([...Object.keys(webhooks.errors), ...(error ? [error] : [])])].map((value) => ({
            value,
            label: value,
          })),
        ]}
        onChange={(value) => onFilter({ error: value === '' ? undefined : value })}
      />
      <SearchField
        label={texts.typeFilter}
        value={type ?? ''}
        onChange={(text) => onFilter({ type: text.trim() || undefined })}
      />
      <SearchField
        label={texts.eventFilter}
        value={id ?? ''}
        onChange={(text) => onFilter({ id: text.trim() || undefined })}
      />
      <DayField label={texts.from} value={from} onChange={(day) => onFilter({ from: day })} />
      <DayField label={texts.until} value={until} onChange={(day) => onFilter({ until: day })} />
      {onClear && (
        <Button kind="quiet" onPress={onClear}>
          {texts.clear}
        </Button>
      )}
    </div>
  );
}

const columnsWith = (linkTo: LogProps['linkTo']): readonly Column<WebhookEvent>[] => [
  {
    title: texts.type,
    cell: (event) => (
      <>
        {linkTo(event)}
        <span className="second">{event.id}</span>
      </>
    ),
  },
  { title: webhooks.status, cell: ({ status }) => <DeliveryState status={status} /> },
  { title: texts.answer, cell: (event) => <LastAnswer event={event} /> },
  {
    title: texts.attempts,
    isFigure: true,
    isWide: true,
    cell: ({ attempt_count }) => whole(attempt_count),
  },
  { title: texts.next, isWide: true, cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
  { title: texts.created, isWide: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

/** Where a delivery is, in a word. */
export function DeliveryState({ status }: { status: DeliveryStatus }) {
  return <Status tone={TONES[status]} label={texts.statuses[status]} />;
}

function LastAnswer({
  event: { last_response_status, last_error_code, attempt_count },
}: {
  event: WebhookEvent;
}) {
  if (attempt_count === 0) return <span className="soft">—</span>;
  return (
    <>
      {last_response_status ?? texts.none}
      {last_error_code && <span className="second">{last_error_code}</span>}
    </>
  );
}
