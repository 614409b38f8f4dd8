import type { Reply } from '../contract/route.ts';

const PARAMETER = /\{(\w+)\}/g;

/** The id with which the JSON of every record begins; null if it is none. */
export const idIn = (reply: Reply): string | null =>
  (reply.kind === 'json' && /^\{"id":"?([\w-]+)/.exec(reply.json)?.[1]) || null;

/**
 * A 201 with the path of its record in `Location`: the route's `creates`, with the parameters of the request, and the id of
 * the record instead of the last one. Other replies, and those of routes without it, are returned as they are.
 */
export function located(
  { creates }: { readonly creates?: string | undefined },
  params: Readonly<Record<string, string>>,
  reply: Reply,
): Reply {
  if (creates === undefined || reply.kind !== 'json' || reply.status !== 201) return reply;
  const id = idIn(reply);
  if (id === null) throw new Error(`the record that a 201 of ${creates} created has no id`);
  const last = creates.lastIndexOf('{');
  const path = creates.replace(PARAMETER, (_, name, at) => (at === last ? id : (params[name] ?? '')));
  return { ...reply, headers: { ...reply.headers, location: path } };
}
