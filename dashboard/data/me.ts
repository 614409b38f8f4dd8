import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Me } from '../../src/client/api.ts';
import type { ApiError } from '../../src/client/errors.ts';
import { call } from './api.ts';
import { session } from './session.ts';

const asked = queryOptions<Me, ApiError>({
  queryKey: ['getMe'],
  queryFn: async ({ signal }) => {
    const me = await call('getMe', {}, { signal });
    session.is(me);
    return me;
  },
});

/** The user; undefined while loading. The shell renders no screen before that. */
export const useMe = () => useQuery(asked);

/** What the user's role allows, to disable buttons that would be refused. The server enforces it. */
export function useMay(): { readonly write: boolean; readonly own: boolean } {
  const { data } = useMe();
  return { write: data !== undefined && data.role !== 'viewer', own: data?.has_full_access === true };
}
