import { type ListQuery, parseList } from '../contract/lists.ts';
import type { Route } from '../contract/route.ts';
import type { Reader } from '../db/connect.ts';
import type { AccountId } from '../kernel/ids.ts';
import { parseDay } from '../kernel/time.ts';
import { UTC } from '../kernel/zones.ts';
import { zoneOf } from '../people/accounts/service.ts';
import { checkQuery, readQuery } from './check.ts';

/** The checked query of a request to a route: that of a list of the account (UUID), or what the operation names. */
export async function queryOf(
  route: Route,
  request: { readonly url: string },
  db: Reader,
  account: AccountId,
): Promise<{ query: Record<string, unknown>; list: ListQuery | undefined }> {
  const given = readQuery(searchOf(request));
  if (!route.list) return { query: await checkQuery(route.query, given), list: undefined };
  // only the account can say what a day means
  const namesDay = [...given.values()].some((value) => parseDay(value) !== null);
  const zone = namesDay ? await zoneOf(db, account) : UTC;
  return { query: {}, list: parseList(route.list, given, { account, zone, operation: route.operation }) };
}

function searchOf({ url }: { readonly url: string }): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
