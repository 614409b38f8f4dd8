import { expect } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { isLong, rounds } from '../support/depth.ts';
import { MISSING_EVENTS } from '../support/imbalances.ts';
import { borrowWorld } from '../support/pool.ts';
import { countOfProcesses } from '../support/processes.ts';
import type { World } from '../support/world.ts';

/** The conditions of races: how slow the database is, and how many servers work on it. */
export interface Arena {
  readonly name: string;
  readonly latencyMs: number;
  readonly servers: number;
}

/** An arena for a race that a test arranges itself. */
export const PLAIN: Arena = { name: 'one server next to its database', latencyMs: 0, servers: 1 };

/**
 * Without latency two requests rarely overlap; with one server a lock in memory would pass for a real one. Both at once
 * is the hard case; the plain one, which has other orders, is for long runs.
 */
export const ARENAS: readonly Arena[] = [
  { name: 'several servers, 25 ms to the database', latencyMs: 25, servers: Math.max(2, countOfProcesses()) },
  ...(isLong ? [PLAIN] : []),
];

export interface Racers {
  readonly world: World;
  /** The first account's client, to prepare and to inspect: without latency outside of `race`. */
  readonly api: Api;
  /** The client of the nth racer: the servers take turns. */
  racer(index: number): Api;
  /** Runs the work with the arena's latency. */
  race<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Runs a test in a new arena; closing it checks the books and fails on logged errors. */
export async function inArena(
  arena: Arena,
  test: (racers: Racers) => Promise<void>,
  options: { poolSize?: number } = {},
): Promise<void> {
  const world = await borrowWorld({ databaseLatencyMs: 0, poolSize: options.poolSize ?? 20 });
  const others: Awaited<ReturnType<World['secondServer']>>[] = [];
  for (let count = 1; count < arena.servers; count += 1) others.push(await world.secondServer());
  const clients = [world.api, ...others.map(({ api }) => api)];
  const { latency } = world;
  if (!latency) throw new Error('an arena needs latency');
  let failure: unknown;
  try {
    await test({
      world,
      api: world.api,
      racer: (index) => clients[index % clients.length] as Api,
      async race(work) {
        latency.latencyMs = arena.latencyMs;
        try {
          return await work();
        } finally {
          latency.latencyMs = 0;
        }
      },
    });
    expect(await world.query(MISSING_EVENTS)).toEqual([]);
  } catch (error) {
    failure = error;
  }
  for (const other of others) await other.close();
  // the test's own failure says more than the unbalanced books that it causes
  if (failure) {
    await world.close().catch(() => undefined);
    throw failure;
  }
  await world.close();
}

/** Starts the works this many milliseconds after each other, so that rounds end in every order. */
export function staggered<Result>(
  gapMs: number,
  ...works: readonly (() => Promise<Result>)[]
): Promise<Result[]> {
  return Promise.all(
    works.map(async (work, index) => {
      if (gapMs * index > 0) await new Promise((resolve) => setTimeout(resolve, gapMs * index));
      return work();
    }),
  );
}

/** The start delays of two requests in the rounds of a race: within the round trips of one request. */
export const GAPS_MS = [0, 90, 40, 150].slice(0, rounds(2, 4));

/** How often each status came, as `{201: 1, 409: 19}`. */
export function tally(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The one response with this status. */
export function only(answers: readonly Answer[], status: number): Answer {
  const found = answers.filter((answer) => answer.status === status);
  expect(found, answers.map((answer) => `${answer.status} ${answer.text}`).join('\n')).toHaveLength(1);
  return found[0] as Answer;
}

export const PAYOUTS = '/v2/affiliates/payouts';
export const COMMISSIONS = '/v2/affiliates/commissions';

/** The unpaid payout, or null. */
export async function currentPayout(api: Api): Promise<Answer['body'] | null> {
  const current = await api.get(`${PAYOUTS}/current`);
  return current.status === 200 ? current.body : null;
}

/** Every commission of the account. */
export async function allCommissions(api: Api): Promise<Answer['body'][]> {
  const found: Answer['body'][] = [];
  for (let page = 1; ; page++) {
    const { body } = await api.get(`${COMMISSIONS}?per_page=100&sort=id&page=${page}`);
    found.push(...body.data);
    if (page >= body.pagination.pages) return found;
  }
}
