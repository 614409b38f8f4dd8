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

/** Begins a request for the ids that are added until the end of the current task. */
function begin(): Batch {
  const ids = new Set<string>();
  const found = new Promise<void>((resolve) => setTimeout(resolve)).then(async () => {
    if (batch?.ids === ids) batch = null;
    const { actors } = await call('getActors', { query: { ids: [...ids].join() } });
    return new Map(actors.map((actor) => [actor.id, actor]));
  });
  return { ids, found };
}

/** Who has an id; null when nobody has. Ids that are asked for at the same time share a request. */
async function findActor(id: string): Promise<Actor | null> {
  if (batch === null || batch.ids.size >= MOST_AT_ONCE) batch = begin();
  batch.ids.add(id);
  return (await batch.found).get(id) ?? null;
}

/** Who has an id, with their name: undefined while loading, null when nobody has it or a portal asks. */
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
