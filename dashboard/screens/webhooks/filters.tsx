import { useState } from 'react';
import type { DeliveryStatus } from '../../../src/client/api.ts';
import { useRead } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { DayField, FilterSelect, optionsOf, SearchField } from '../../parts/field.tsx';
import { FoldedFilters, setIn } from '../../parts/fold.tsx';
import { LiveSwitch } from '../../parts/live.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import { answerCode } from './search.ts';

const texts = webhooks.log;
const STATUSES = ['failed', 'pending', 'held', 'cancelled', 'delivered'] as const;
const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;

/** The filters of a log, as in the URL. */
interface LogFilters {
  readonly status?: DeliveryStatus | undefined;
  readonly type?: string | undefined;
  readonly answer?: (typeof CLASSES)[number] | undefined;
  readonly code?: number | undefined;
  readonly error?: string | undefined;
  readonly id?: string | undefined;
  readonly own?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly owner?: string | undefined;
  readonly tag?: string | undefined;
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

/** The same with the page and the delivery in the drawer. */
export interface LogSearch extends LogFilters {
  readonly page?: number | undefined;
  readonly event?: string | undefined;
  readonly at?: string | undefined;
}

const NONE: Readonly<Record<keyof LogFilters, undefined>> = {
  status: undefined,
  type: undefined,
  answer: undefined,
  code: undefined,
  error: undefined,
  id: undefined,
  own: undefined,
  endpoint: undefined,
  owner: undefined,
  tag: undefined,
  from: undefined,
  until: undefined,
};
const NAMES = Object.keys(NONE) as (keyof LogFilters)[];

/** Whether any filter of the log is set. */
const isFiltered = (search: LogSearch): boolean => NAMES.some((name) => search[name] !== undefined);

/** The filters of the API for a log; `endpoint`, `owner` and `tag` are filters of the log of all endpoints. */
export function logFilters(search: LogSearch) {
  const { status, type, answer, code, error, id, own, from, until } = search;
  return {
    status,
    type,
    response_class: answer,
    response_status: code,
    error_code: error,
    event_id: id,
    external_id: own,
    'created_at[gte]': from,
    'created_at[lte]': until,
  };
}

interface FiltersProps {
  readonly search: LogSearch;
  readonly onFilter: (next: LogSearch) => void;
}

/** The filters of a log; rarely used ones are shown on demand, or when one of them is set. */
export function Filters({ search, onFilter, isOfAll }: FiltersProps & { isOfAll: boolean }) {
  const { status, answer, code, type, error, id, own, endpoint, owner, tag, from, until } = search;
  const isMoreUsed = [code, error, id, own, endpoint, owner, tag, from, until].some(
    (each) => each !== undefined,
  );
  const [isMore, setMore] = useState(isMoreUsed);
  return (
    <FoldedFilters
      first={
        <FilterSelect
          label={webhooks.status}
          any={texts.anyStatus}
          value={status}
          options={optionsOf(STATUSES, texts.statuses)}
          onChange={(value) => onFilter({ status: value })}
        />
      }
      set={setIn({ answer, code, type, error, id, own, endpoint, owner, tag, from, until })}
    >
      <FilterSelect
        label={texts.answer}
        any={texts.anyAnswer}
        value={answer}
        options={optionsOf(CLASSES, texts.classes)}
        onChange={(value) => onFilter({ answer: value })}
      />
      <SearchField
        label={texts.typeFilter}
        value={type ?? ''}
        onChange={(text) => onFilter({ type: text.trim() || undefined })}
      />
      {!isMoreUsed && (
        <Button kind="quiet" isExpanded={isMore} onPress={() => setMore(!isMore)}>
          {isMore ? texts.fewer : texts.more}
        </Button>
      )}
      {isFiltered(search) && (
        <Button kind="quiet" onPress={() => onFilter(NONE)}>
          {texts.clear}
        </Button>
      )}
      <LiveSwitch />
      {(isMore || isMoreUsed) && <MoreFilters search={search} onFilter={onFilter} isOfAll={isOfAll} />}
    </FoldedFilters>
  );
}

function MoreFilters({ search, onFilter, isOfAll }: FiltersProps & { isOfAll: boolean }) {
  const { code, error, id, own, owner, tag, from, until } = search;
  const errors = new Set([...Object.keys(webhooks.errors), ...(error ? [error] : [])]);
  return (
    <div className="filters more-filters">
      <FilterSelect
        label={webhooks.delivery.why}
        any={texts.anyError}
        value={error}
        options={[...[...errors].map((value) => ({ value, label: value }))]}
        onChange={(value) => onFilter({ error: value })}
      />
      {isOfAll && (
        <>
          <EndpointFilter search={search} onFilter={onFilter} />
          <SearchField
            label={texts.ownerFilter}
            value={owner ?? ''}
            onChange={(text) => onFilter({ owner: text.trim() || undefined })}
          />
          <SearchField
            label={texts.tagFilter}
            value={tag ?? ''}
            onChange={(text) => onFilter({ tag: text.trim() || undefined })}
          />
        </>
      )}
      <SearchField
        label={texts.codeFilter}
        value={code === undefined ? '' : String(code)}
        onChange={(text) => onFilter({ code: answerCode(text.trim()) })}
      />
      <SearchField
        label={texts.eventFilter}
        value={id ?? ''}
        onChange={(text) => onFilter({ id: text.trim() || undefined })}
      />
      <SearchField
        label={texts.ownFilter}
        value={own ?? ''}
        onChange={(text) => onFilter({ own: text.trim() || undefined })}
      />
      <DayField label={texts.from} value={from?.slice(0, 10)} onChange={(day) => onFilter({ from: day })} />
      <DayField
        label={texts.until}
        value={until?.slice(0, 10)}
        onChange={(day) => onFilter({ until: day })}
      />
    </div>
  );
}

/** A hook: the newest hundred endpoints; undefined while loading. */
export const useEndpoints = (isEnabled = true) =>
  useRead('listWebhookEndpoints', { query: { per_page: 100 } }, { isEnabled }).data?.data;

function EndpointFilter({ search: { endpoint }, onFilter }: FiltersProps) {
  const known = useEndpoints() ?? [];
  const isOther = endpoint !== undefined && !known.some(({ id }) => id === endpoint);
  return (
    <FilterSelect
      label={webhooks.endpoint}
      any={texts.anyEndpoint}
      value={endpoint}
      options={[
        ...known.map((each) => ({ value: each.id, label: webhooks.nameOf(each) })),
        ...(isOther ? [{ value: endpoint, label: endpoint }] : []),
      ]}
      onChange={(value) => onFilter({ endpoint: value })}
    />
  );
}
