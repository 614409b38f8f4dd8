import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Reader, type Tx } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import type { AccountId } from '../kernel/ids.ts';

/** Whether a payload (jsonb) matches a filter: its columns `filter_path`, `filter_fast` and `filter_contains`. */
export const matches = (
  payload: Sql,
  { path, fast, contains }: { readonly path: Sql; readonly fast: Sql; readonly contains: Sql },
): Sql => sql`coalesce(
  case when ${fast} is null then ${payload} @@ ${path} else filter_matches(${payload}, ${fast}, ${contains}) end, false)`;

/** The maximum number of searches by an account's filters in one event. */
const MOST_SEARCHES = 1000;

/**
 * The number of searches (one for each `$contains`) that an account's filters make in one event; null = no filters. The
 * lookup of an API key returns this number (people/keys/store).
 */
export async function searchesOf(db: Reader, account: AccountId): Promise<number | null> {
  const { searches } = await oneRow<{ searches: number | null }>(
    db,
    sql`select sum(filter_searches)::int as searches from webhook_endpoints
        where account_id = ${account} and filter_path is not null and deleted_at is null`,
  );
  return searches;
}

/**
 * Called after a filter was written, with the account's row locked: throws `too_many_filters` if the account exceeds the
 * maximum number of searches.
 */
export async function refuseTooManySearches(tx: Tx, account: AccountId): Promise<void> {
  const searches = (await searchesOf(tx, account)) ?? 0;
  if (searches <= MOST_SEARCHES) return;
  throw fail(
    'too_many_filters',
    `filter: the endpoints of the account would have ${searches} $contains in total; the maximum is ${MOST_SEARCHES}`,
  );
}
