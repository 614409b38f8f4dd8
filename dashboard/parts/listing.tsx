import { type ReactNode, useState } from 'react';
import type { Page as ListPage } from '../../src/client/api.ts';
import { pageSize } from '../data/preferences.ts';
import { writes } from '../data/queries.ts';
import { common } from '../texts/common.ts';
import { Button, IconButton } from './button.tsx';
import { Problem } from './feedback.tsx';
import { Select } from './field.tsx';
import { whole } from './format.ts';
import { type Column, type Selection, Table } from './table.tsx';

/** The result of `useRead` for a list. */
interface Reading<Row> {
  readonly data: ListPage<Row> | undefined;
  readonly error: Error | null;
  readonly isPlaceholderData: boolean;
  /** Identifies the list, page, order and filters. */
  readonly place: string;
  readonly refetch: () => unknown;
}

export interface ListingProps<Row> {
  readonly label: string;
  readonly reading: Reading<Row>;
  /** The full count, if counting stopped at the total of the page; null = still counting. */
  readonly total?: number | null | undefined;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly sort?: string | undefined;
  readonly onSort?: (sort: string) => void;
  readonly onPage: (page: number) => void;
  /** Shown instead of the table when there are no rows. */
  readonly empty: ReactNode;
  readonly footer?: ReactNode;
  readonly isMarked?: (row: Row) => boolean;
  readonly selection?: Selection<Row> | undefined;
}

/** A loaded list: its rows and pages, new rows, the empty state, or the error. */
export function Listing<Row>(props: ListingProps<Row>) {
  const { reading, total, keyOf, empty, onPage } = props;
  const { data, fresh, isMore, showFresh } = useHeld(reading, keyOf, total !== undefined);
  if (reading.error && data === undefined) {
    return <Problem error={reading.error} onRetry={() => void reading.refetch()} />;
  }
  if (data?.pagination.total === 0 && fresh === 0) return <>{empty}</>;
  return (
    <div className="listing">
      {fresh > 0 && (
        <div className="fresh">
          <Button icon="up" onPress={showFresh}>
            {isMore ? common.freshAtLeast(fresh) : common.fresh(fresh)}
          </Button>
        </div>
      )}
      <Table
        label={props.label}
        columns={props.columns}
        rows={data?.data}
        keyOf={keyOf}
        sort={props.sort}
        onSort={props.onSort}
        footer={props.footer}
        isMarked={props.isMarked}
        selection={props.selection}
        isStale={reading.isPlaceholderData}
      />
      {data && <Pager label={props.label} pagination={data.pagination} total={total} onPage={onPage} />}
    </div>
  );
}

/**
 * Keeps the rows on screen while others arrive: changes of the same rows are shown at once, new rows on demand. After
 * the user's own writes, and for another page, order or filter, everything is shown at once. Where counting stopped
 * (`isPart`), new rows are found by comparing the rows of the page, because the total does not change.
 */
function useHeld<Row>(
  { data, isPlaceholderData, place }: Reading<Row>,
  keyOf: (row: Row) => string,
  isPart: boolean,
) {
  const own = writes.use();
  const [{ held, heldAt, heldPlace }, setHeld] = useState({ held: data, heldAt: own, heldPlace: place });
  const isSamePlace = held !== undefined && data !== undefined && heldPlace === place;
  const known = new Set(held?.data.map(keyOf));
  const others = data?.data.filter((row) => !known.has(keyOf(row))).length ?? 0;
  const more = isSamePlace ? data.pagination.total - held.pagination.total : 0;
  // deleted rows make room for others at the end, which are not new
  const isNew =
    isSamePlace &&
    !isPlaceholderData &&
    own === heldAt &&
    held.data.length > 0 &&
    (isPart || more > 0) &&
    others > 0;
  const show = () => setHeld({ held: data, heldAt: own, heldPlace: place });
  if (data !== held && !isNew && !isPlaceholderData) show();
  return {
    data: isNew ? withChanges(held, data, keyOf) : (data ?? held),
    fresh: isNew ? (isPart ? others : more) : 0,
    isMore: isPart && others === data?.data.length,
    showFresh: show,
  };
}

/** The same rows with their current values, as far as these were loaded again. */
function withChanges<Row>(held: ListPage<Row>, now: ListPage<Row>, keyOf: (row: Row) => string) {
  const changed = new Map(now.data.map((row) => [keyOf(row), row]));
  return { ...held, data: held.data.map((row) => changed.get(keyOf(row)) ?? row) };
}

/** Which rows of how many, and links to the other pages. */
export function Pager({
  label,
  pagination: { page, limit, total: counted },
  total: exact,
  onPage,
}: {
  /** The name of the list. */
  label: string;
  pagination: Pick<ListPage<unknown>['pagination'], 'page' | 'limit' | 'total'>;
  /** As for a listing. */
  total?: number | null | undefined;
  onPage: (page: number) => void;
}) {
  const size = pageSize.use();
  const from = (page - 1) * limit + 1;
  const texts = common.pager;
  const total = exact ?? counted;
  const pages = Math.ceil(total / limit);
  return (
    <nav className="pager" aria-label={common.pager.label(label)}>
      <span>
        {texts.range(
          whole(Math.min(from, total)),
          whole(Math.min(from + limit - 1, total)),
          exact === null ? texts.atLeast(whole(total)) : whole(total),
        )}
      </span>
      {total > 25 && (
        <Select
          label={texts.size}
          value={size}
          options={(['25', '50', '100'] as const).map((value) => ({ value, label: value }))}
          onChange={(value) => {
            pageSize.set(value);
            onPage(1);
          }}
        />
      )}
      <IconButton
        icon="left"
        label={texts.previous}
        isDisabled={page <= 1}
        onPress={() => onPage(page - 1)}
      />
      <IconButton
        icon="right"
        label={texts.next}
        isDisabled={page >= pages}
        onPress={() => onPage(page + 1)}
      />
    </nav>
  );
}
