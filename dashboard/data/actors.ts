import { useQuery } from '@tanstack/react-query';
import type { Actors } from '../../src/client/api.ts';
import { call } from './api.ts';
import { usePortal } from './me.ts';

type Actor = Actors['actors'][number];

const MOST_AT_ONCE = 100;
const FRESH_MS = 300_000;

interface Batch {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, Actor>>;
}

let batch: Batch | null = null;

/** Starts a request for the ids that are added until the end of the current task. */
function begin(): Batch {
  const ids = new Set<string>();
  const found = new Promise<void>((resolve) => setTimeout(resolve)).then(async () => {
    if (batch?.ids === ids) batch = null;
    const { actors } = await call('getActors', { query: { ids: [...ids].join() } });
    return new Map(actors.map((actor) => [actor.id, actor]));
  });
  return { ids, found };
}

/** The actor with an id; null if there is none. Ids requested at the same time share a request. */
async function findActor(id: string): Promise<Actor | null> {
  if (batch === null || batch.ids.size >= MOST_AT_ONCE) batch = begin();
  batch.ids.add(id);
  return (await batch.found).get(id) ?? null;
}

/** A hook: the actor with an id; undefined while loading, null if there is none, and always null in a portal. */
export function useActor(id: string): Actor | null | undefined {
  const isPortal = usePortal() !== null;
  const isNamed = id.includes('_') && !isPortal;
  const { data, error } = useQuery({
    queryKey: ['getActors', id],
    queryFn: () => findActor(id),
    enabled: isNamed,
    staleTime: FRESH_MS,
  });
  return isNamed && error === null ? data : null;
}
