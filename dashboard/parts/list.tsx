import type { Operations, Page } from '../../src/client/api.ts';
import type { Input, OperationId, Result } from '../data/api.ts';
import { pageSize } from '../data/preferences.ts';
import { useRead } from '../data/queries.ts';
import { common } from '../texts/common.ts';
import { copyCurl } from './copy.tsx';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';

/** The operations that give a list. */
type ListId = {
  [Id in OperationId]: Result<Id> extends Page<unknown> ? Id : never;
}[OperationId];

type Filters<Id extends ListId> = Operations[Id] extends { readonly query?: infer Query }
  ? Omit<NonNullable<Query>, 'page' | 'per_page' | 'sort' | 'after'>
  : never;

/** Where in a list one is. */
interface Place {
  readonly page?: number | undefined;
  readonly sort?: string | undefined;
}

interface ListOptions<Id extends ListId> {
  readonly filters?: Filters<Id>;
  readonly place: Place;
  /** Puts another place in the address; without a page it is the first. */
  readonly onPlace: (next: Place) => void;
  readonly isEnabled?: boolean;
}

/**
 * A list of the API as an address asks for it, read anew while one looks. What it gives is for `<Listing {...list}>` and
 * `<ListMenu {...list}>`.
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

/** What can be done with a list itself: the request behind it is copied. */
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
