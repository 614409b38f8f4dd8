import type { Operations, Page } from '../../src/client/api.ts';
import type { Call, Input, OperationId, Result } from '../data/api.ts';
import { pageSize } from '../data/preferences.ts';
import { type ReadOptions, useRead } from '../data/queries.ts';
import { common } from '../texts/common.ts';
import { copyCurl } from './copy.tsx';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';

/** The operations that return a list. */
type ListId = {
  [Id in OperationId]: Result<Id> extends Page<unknown> ? Id : never;
}[OperationId];

type Filters<Id extends ListId> = Operations[Id] extends { readonly query?: infer Query }
  ? Omit<NonNullable<Query>, 'page' | 'per_page' | 'sort' | 'after'>
  : never;

/** The position in a list. */
export interface ListPosition {
  readonly page?: number | undefined;
  readonly sort?: string | undefined;
}

/** The path and body of the operation, as for `useRead`, with the filters and the position instead of its query. */
type ListOptions<Id extends ListId> = Omit<Input<Id>, 'query'> & {
  readonly filters?: Filters<Id>;
  readonly place: ListPosition;
  /** Puts another position in the URL; without a page, the first. */
  readonly onPlace: (next: ListPosition) => void;
  readonly isLive?: ReadOptions['isLive'];
  readonly isEnabled?: boolean;
  /** Whether rows are shown before all of them are counted: for lists that support `max_total`. */
  readonly countsLater?: boolean;
};

/** At most this many rows are counted before the first are shown. */
const COUNTED_AT_ONCE = 1000;

/**
 * A list of the API for the parameters in the URL, refetched while it is visible. Use the result for `<Listing
 * {...list}>` and `<ListMenu {...list}>`.
 */
export function useList<Id extends ListId>(id: Id, options: ListOptions<Id>) {
  const { filters = {}, place, onPlace, isLive = true, isEnabled = true, countsLater, ...request } = options;
  const { page, sort } = place;
  const per_page = Number(pageSize.use());
  // a later page needs the count anyway
  const isBounded = countsLater && (page ?? 1) * per_page <= COUNTED_AT_ONCE;
  const max_total = isBounded ? COUNTED_AT_ONCE : undefined;
  const input = { ...request, query: { ...filters, page, sort, per_page, max_total } };
  const reading = useRead(id, input as unknown as Input<Id>, { isLive, isEnabled, keepsPrevious: true });
  const isPart = isBounded === true && reading.data?.pagination.total === COUNTED_AT_ONCE;
  const all = { ...request, query: { ...filters, per_page: 1 } };
  const counting = useRead(id, all as unknown as Input<Id>, {
    isLive: isLive !== false,
    isEnabled: isPart && !reading.isPlaceholderData,
  });
  return {
    id,
    input,
    reading,
    total: isPart ? (counting.data?.pagination.total ?? null) : undefined,
    isFiltered: Object.values(filters).some((value) => value !== undefined),
    sort,
    onSort: (by: string) => onPlace({ sort: by }),
    onPage: (to: number) => onPlace({ page: to }),
  };
}

/** The actions on the list itself: copying its request. */
export function ListMenu({ id, input }: { id: OperationId; input: Call }) {
  const curl = {
    label: common.copyAsCurl,
    icon: 'copy',
    onPress: () => copyCurl(id, input),
  } as const;
  return (
    <Menu label={common.more} groups={[{ items: [curl] }]}>
      <Icon name="dots" />
    </Menu>
  );
}
