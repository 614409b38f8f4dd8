import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Me } from '../../src/client/api.ts';
import type { ApiError } from '../../src/client/errors.ts';
import { call } from './api.ts';
import { queries } from './queries.ts';
import { session } from './session.ts';

const asked = queryOptions<Me, ApiError>({
  queryKey: ['getMe'],
  queryFn: async ({ signal }) => {
    const me = await call('getMe', {}, { signal });
    session.is(me);
    return me;
  },
});

/** Reads who asks before the first screen opens. */
export const loadMe = (): Promise<Me> => queries.fetchQuery(asked);

/** The user; undefined while loading. The shell renders no screen before that. */
export const useMe = () => useQuery(asked);

/** What this page is a portal of; null in the dashboard. */
export const usePortal = () => useMe().data?.portal ?? null;

interface May {
  readonly write: boolean;
  readonly own: boolean;
  /** Endpoints may be made and deleted. */
  readonly makeEndpoints: boolean;
}

/** What the caller's role allows, to disable buttons that would be refused. The server enforces it. */
export function useMay(): May {
  const { data } = useMe();
  const portal = usePortal();
  const write = data !== undefined && data.role !== 'viewer';
  return {
    write,
    own: data?.has_full_access === true,
    makeEndpoints: write && (portal === null || portal.owner !== null),
  };
}
