import { type ListQuery, parseList } from '../contract/lists.ts';
import type { Principal, Route } from '../contract/route.ts';
import type { Reader } from '../db/database.ts';
import { parseDay } from '../kernel/time.ts';
import { UTC } from '../kernel/zones.ts';
import { zoneOf } from '../people/accounts/service.ts';
import { checkReach } from '../webhooks/endpoints/portal.ts';
import { checkQuery, readQuery } from './check.ts';

/**
 * The checked query of a request: that of a list, or the operation's own parameters. Refuses what a portal may not
 * access, before the handler runs.
 */
export async function queryOf(
  route: Route,
  request: { readonly url: string; readonly params: unknown },
  db: Reader,
  principal: Principal,
): Promise<{ query: Record<string, unknown>; list: ListQuery | undefined }> {
  const { account } = principal;
  const given = readQuery(searchOf(request));
  const query = route.list ? {} : await checkQuery(route.query, given);
  await checkReach(db, principal, route, { params: request.params as Record<string, string>, query });
  if (!route.list) return { query, list: undefined };
  // only the account knows the time zone of a day
  const namesDay = [...given.values()].some((value) => parseDay(value) !== null);
  const zone = namesDay ? await zoneOf(db, account) : UTC;
  return { query: {}, list: parseList(route.list, given, { account, zone, operation: route.operation }) };
}

function searchOf({ url }: { readonly url: string }): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
