import { type ReactNode, useMemo } from 'react';
import type { WebhookEvent } from '../../../src/client/api.ts';
import { Empty } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { Listing, type ListingProps } from '../../parts/listing.tsx';
import type { Column } from '../../parts/table.tsx';
import { LineId, Path, Time } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { Delivery, DeliveryState } from './delivery.tsx';
import { Filters, type LogSearch, useEndpoints } from './filters.tsx';
import './webhooks.css';

const texts = webhooks.log;

interface LogProps {
  readonly list: Pick<ListingProps<WebhookEvent>, 'reading' | 'total' | 'onPage'> & {
    readonly isFiltered: boolean;
  };
  /** Whether it is the log of all endpoints. */
  readonly isOfAll?: boolean;
  readonly search: LogSearch;
  readonly onChange: (next: LogSearch) => void;
  /** The link of a row, which opens the delivery. Memoised: changes only with the links. */
  readonly linkTo: (event: WebhookEvent) => ReactNode;
  /** Rendered above the rows, with their total. */
  readonly actions?: (total: number | undefined) => ReactNode;
}

/** Deliveries, one per row, with filters; a row opens in a drawer. */
export function Log({ list, isOfAll = false, search, onChange, linkTo, actions }: LogProps) {
  const { reading, total = reading.data?.pagination.total } = list;
  const endpoints = useEndpoints(isOfAll);
  const columns = useMemo(
    () =>
      columnsWith(
        linkTo,
        isOfAll ? new Map(endpoints?.map((each) => [each.id, webhooks.nameOf(each)])) : null,
      ),
    [linkTo, isOfAll, endpoints],
  );
  return (
    <>
      <Filters
        search={search}
        onFilter={(next) => onChange({ page: undefined, ...next })}
        isOfAll={isOfAll}
      />
      {actions?.(total ?? undefined)}
      <Listing
        {...list}
        label={webhooks.views.log}
        columns={columns}
        keyOf={(event) => `${event.id} ${event.webhook_endpoint_id}`}
        empty={
          list.isFiltered ? (
            // the filters above have their own button to clear them
            <Empty icon="search" title={texts.filtered} />
          ) : (
            <Empty icon="webhooks" title={texts.empty}>
              {texts.emptyLead}
            </Empty>
          )
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

/** In the log of all endpoints, adds the URL of each, or the id of a deleted one. */
const columnsWith = (
  linkTo: LogProps['linkTo'],
  urls: ReadonlyMap<string, string> | null,
): readonly Column<WebhookEvent>[] => [
  {
    title: texts.type,
    cell: (event) => (
      <>
        {linkTo(event)}
        <span className="second">
          <LineId>{event.id}</LineId>
        </span>
      </>
    ),
  },
  ...(urls
    ? [
        {
          title: webhooks.endpoint,
          isBelow: true,
          cell: ({ webhook_endpoint_id: id }: WebhookEvent) => <Path>{urls.get(id) ?? id}</Path>,
        },
      ]
    : []),
  { title: webhooks.status, cell: ({ status }) => <DeliveryState status={status} /> },
  { title: texts.answer, isWide: true, cell: (event) => <LastAnswer event={event} /> },
  {
    title: texts.attempts,
    isFigure: true,
    isWide: true,
    cell: ({ attempt_count }) => whole(attempt_count),
  },
  { title: texts.next, isWide: true, cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
  { title: texts.created, isBelow: true, cell: ({ created_at }) => <Time at={created_at} /> },
];

function LastAnswer({
  event: { last_response_status, last_error_code, attempt_count, status },
}: {
  event: WebhookEvent;
}) {
  if (attempt_count === 0) return <span className="soft">—</span>;
  return (
    <>
      {last_response_status ?? (status === 'delivered' ? webhooks.delivery.acknowledged : texts.none)}
      {last_error_code && <span className="second unbroken">{last_error_code.replaceAll('_', ' ')}</span>}
    </>
  );
}
