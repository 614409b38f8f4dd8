import type { Operations, Page } from '../../src/client/api.ts';
import type { Input, OperationId, Result } from '../data/api.ts';
import { pageSize } from '../data/preferences.ts';
import { useRead } from '../data/queries.ts';
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
interface Place {
  readonly page?: number | undefined;
  readonly sort?: string | undefined;
}

interface ListOptions<Id extends ListId> {
  readonly filters?: Filters<Id>;
  readonly place: Place;
  /** Puts another position in the URL; without a page it is the first. */
  readonly onPlace: (next: Place) => void;
  readonly isEnabled?: boolean;
}

/**
 * A list of the API for the parameters in the URL, refetched while it is visible. Use the result for `<Listing
 * {...list}>` and `<ListMenu {...list}>`.
 */
export function useList<Id extends ListId>(id: Id, { filters, place, onPlace, isEnabled }: ListOptions<Id>) {
  const { page, sort } = place;
  const query = { ...filters, page, sort, per_page: Number(pageSize.use()) };
  const reading = useRead(id, { query } as unknown as Input<Id>, {
    isLive: true,
    keepsPrevious: true,
    ...(isEnabled === undefined ? {} : { isEnabled }),
  });
  return {
    id,
    query,
    reading,
    sort,
    onSort: (by: string) => onPlace({ sort: by }),
    onPage: (to: number) => onPlace({ page: to }),
  };
}

/** The actions on the list itself: copying its request. */
export function ListMenu({ id, query }: { id: OperationId; query: object }) {
  const curl = {
    label: common.copyAsCurl,
    icon: 'copy',
    onPress: () => copyCurl(id, { query }),
  } as const;
  return (
    <Menu label={common.more} groups={[{ items: [curl] }]}>
      <Icon name="dots" />
    </Menu>
  );
}
