import sql from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { rows, type Tx } from '../../db/database.ts';
import { Failure } from '../../kernel/errors.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import { compileFilter, type Filter } from './compile.ts';

/** The columns of an endpoint for its filter, checked; null = no filter. Throws as `compileFilter`. */
export function filterColumns(filter: Filter | null) {
  if (filter === null) return { filter: null, filter_path: null, filter_fast: null, filter_contains: null };
  const { test, fast } = compileFilter(filter);
  return {
    filter: JSON.stringify(filter),
    filter_path: test,
    filter_fast: fast?.test ?? null,
    filter_contains: fast && JSON.stringify(fast.contains),
  };
}

/**
 * Writes the fast form of filters that were stored by a version without it. Until then the slow form is used, which has
 * the same result. Returns the number examined.
 */
export async function speedUpFilters(tx: Tx): Promise<number> {
  const slow = await rows<{ account: AccountId; id: EndpointId; filter: string }>(
    tx,
    sql`select account_id as account, id, filter from webhook_endpoints
        where filter_searches > 0 and filter_fast is null and deleted_at is null
        order by account_id, id limit ${SLICE_ROWS}::int for no key update`,
  );
  for (const { account, id, filter } of slow) {
    const { filter_fast: fast, filter_contains: contains } = fastOf(JSON.parse(filter));
    if (fast === null) continue;
    await rows(
      tx,
      sql`update webhook_endpoints set filter_fast = ${fast}, filter_contains = ${contains}
          where account_id = ${account} and id = ${id}`,
    );
  }
  return 0; // those without a fast form would be found again
}

/** No fast form for a filter that would be refused today. */
function fastOf(filter: Filter): Pick<ReturnType<typeof filterColumns>, 'filter_fast' | 'filter_contains'> {
  try {
    return filterColumns(filter);
  } catch (error) {
    if (error instanceof Failure) return { filter_fast: null, filter_contains: null };
    throw error;
  }
}
