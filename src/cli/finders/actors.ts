import type { Actors, Client } from '../../client/client.ts';
import { printable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

const MOST_AT_ONCE = 100;

const KINDS: Readonly<Record<Actors['actors'][number]['kind'], string | null>> = {
  user: null,
  key: 'API key',
  application: 'application',
  operator: null,
  portal: 'portal link',
};

/** The text to print for the id of an actor, such as `created_by`. */
export type Names = (id: string) => string;

/**
 * The names of these ids: `Ada Lovelace`, `export (API key)`. An unknown id, or one without a name, is printed as it is.
 * With --json, which prints ids, no names are requested.
 */
export async function findNames(
  client: Client,
  ids: readonly (string | null)[],
  { json }: Pick<Terminal, 'json'>,
): Promise<Names> {
  const named = json ? [] : [...new Set(ids.filter((id) => id?.includes('_')))];
  const names = new Map([['operator', 'the operator']]);
  for (let from = 0; from < named.length; from += MOST_AT_ONCE) {
    const { actors } = await client.actors.get({ ids: named.slice(from, from + MOST_AT_ONCE).join() });
    for (const { id, name, kind } of actors) {
      if (name !== null) names.set(id, printable(KINDS[kind] === null ? name : `${name} (${KINDS[kind]})`));
    }
  }
  return (id) => names.get(id) ?? id;
}
