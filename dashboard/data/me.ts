import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Me } from '../../src/client/api.ts';
import type { ApiError } from '../../src/client/errors.ts';
import { ALL_CAPABILITIES, type Capability } from '../../src/contract/roles.ts';
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

/** What the caller may do, to hide or disable what would be refused. The server enforces it. */
type May = Readonly<Record<Capability, boolean>> & {
  /** Endpoints may be made and deleted. */
  readonly makeEndpoints: boolean;
};

export function useMay(): May {
  const held = useMe().data?.capabilities ?? [];
  const portal = usePortal();
  const may = Object.fromEntries(ALL_CAPABILITIES.map((each) => [each, held.includes(each)])) as Record<
    Capability,
    boolean
  >;
  return { ...may, makeEndpoints: may.webhooks && (portal === null || portal.owner !== null) };
}
