import type { Principal } from '../contract/route.ts';
import type { Database } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { turnsOfOwners } from '../kernel/turns-of-owners.ts';
import { searchesOf } from '../outbox/searches.ts';

/*
 * Filters are evaluated by the statement that stores an event, and an account may have hundreds of them. So accounts with
 * filters publish in separate transactions: one at a time per account, and few in total, in turn. The amount of searching
 * is limited (docs/decisions/0078-accounts-with-filters-take-turns.md).
 */

/** At most this many connections of a server evaluate filters, for all accounts. */
const AT_ONCE = 2;
/** The maximum searching for one request: bytes of payload times searches. */
const MOST_OF_ONE = 256 << 20;
/** The maximum searching for the waiting requests of an account. */
const MOST_WAITING = 1 << 30;

/** A request that publishes events of an account. */
export interface Publishing {
  readonly principal: Principal;
  readonly bytes: number;
}

export interface Filtered {
  /** The number of searches by the filters of the caller's account for each event; null = no filters. */
  searches(principal: Principal): number | null | Promise<number | null>;
  /**
   * Runs `work` in the account's turn. Throws `too_much_to_search` for a request that exceeds the maximum, and
   * `rate_limited` if too many are waiting.
   */
  inTurn<Result>(
    publishing: Publishing & { readonly searches: number },
    work: (inTurn: <Inner>(inner: () => Promise<Inner>) => Promise<Inner>) => Promise<Result>,
  ): Promise<Result>;
}

const known = new WeakMap<Database, Filtered>();

/** The turns for a database in this process, shared by all routes that publish. */
export function filteredPublishing(db: Database): Filtered {
  const turns = known.get(db) ?? newTurns(db);
  known.set(db, turns);
  return turns;
}

function newTurns(db: Database): Filtered {
  const turns = turnsOfOwners(AT_ONCE);
  const waiting = new Map<string, number>();
  return {
    searches: ({ account, searches }) => (searches === undefined ? searchesOf(db.reader, account) : searches),
    async inTurn({ principal: { account }, bytes, searches }, work) {
      const cost = (1 + searches) * bytes; // even without a search the payload is parsed
      const before = waiting.get(account) ?? 0;
      if (cost > MOST_OF_ONE) {
        throw fail(
          'too_much_to_search',
          `with ${searches} $contains at the endpoints of the account, a request may have ${Math.floor(MOST_OF_ONE / (1 + searches))} bytes, ` +
            `not ${bytes}: send fewer events at once`,
        );
      }
      if (before + cost > MOST_WAITING) {
        throw fail(
          'rate_limited',
          'too many events of the account are waiting for its filters to be evaluated; send fewer at a time',
          { 'retry-after': '1' },
        );
      }
      waiting.set(account, before + cost);
      try {
        return await work((inner) => turns(account, inner));
      } finally {
        const left = (waiting.get(account) ?? 0) - cost;
        if (left > 0) waiting.set(account, left);
        else waiting.delete(account);
      }
    },
  };
}
