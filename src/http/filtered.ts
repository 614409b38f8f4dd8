import type { Principal } from '../contract/route.ts';
import type { Database } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { turnsOfOwners } from '../kernel/turns-of-owners.ts';
import { searchesOf } from '../outbox/searches.ts';

/*
 * Filters are judged by the statement that stores an event, and an account may have hundreds of them. So an account with
 * filters publishes in transactions of its own: one at a time, and few of all such accounts at once, in turn. What it may
 * search is limited. Why: docs/decisions/0078-accounts-with-filters-take-turns.md.
 */

/** Of all accounts, on one server: at most this many connections judge filters. */
const AT_ONCE = 2;
/** The most that filters may search for one request, in bytes of payload times searches. */
const MOST_OF_ONE = 256 << 20;
/** The most that the waiting requests of an account may come to. */
const MOST_WAITING = 1 << 30;

/** A request that publishes events of an account. */
export interface Publishing {
  readonly principal: Principal;
  readonly bytes: number;
}

export interface Filtered {
  /** How many searches the filters of the caller's account make at each event; null = it has no filters. */
  searches(principal: Principal): number | null | Promise<number | null>;
  /**
   * Runs `work` in the account's turn. Throws `too_much_to_search` for a request that no turn is long enough for, and
   * `rate_limited` when too many wait.
   */
  inTurn<Result>(
    asked: Publishing & { readonly searches: number },
    work: (inTurn: <Inner>(inner: () => Promise<Inner>) => Promise<Inner>) => Promise<Result>,
  ): Promise<Result>;
}

const known = new WeakMap<Database, Filtered>();

/** The turns on a database in this process, for all routes that publish. */
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
      const cost = (1 + searches) * bytes; // without a search it is still parsed
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
          'too many events of the account wait until its filters have judged the earlier ones; send fewer at a time',
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
