import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Signal } from '../../src/kernel/signals.ts';
import { PATIENCE_MS } from './patience.ts';
import type { World } from './world.ts';

/** Another process or a statement of the test may cause the same without a signal of this process. */
const LOOK_AGAIN_MS = 500;

/** The state of the engine, for the message of a test that timed out. */
const STATE = `
  select (select count(*) from queue)::int as queued,
         (select count(*) from queue where lease_token is not null)::int as leased,
         (select count(*) from queue where due_at <= now())::int as due,
         (select count(*) from workers)::int as workers,
         (select count(*) from deliveries where status = 'pending')::int as pending`;

/**
 * Asks until the answer is truthy: at once, and again whenever a worker or a chore of this process gives the signal.
 * Throws with the name of the signal and the state of the engine when that takes longer than `patienceMs`.
 */
export async function onSignal<Result>(
  { query }: Pick<World, 'query'>,
  name: Signal,
  what: string,
  ask: () => Result | Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<NonNullable<Result>> {
  const end = performance.now() + patienceMs;
  let given = 0;
  let hear = () => {};
  const listener = () => {
    given += 1;
    hear();
  };
  subscribe(`payhook.${name}`, listener);
  try {
    for (;;) {
      const before = given;
      const answer = await ask();
      if (answer) return answer;
      if (performance.now() > end) {
        const [state] = await query(STATE);
        throw new Error(
          `waited ${patienceMs} ms for ${what}: the signal \`${name}\` came ${given} times, the engine has ${JSON.stringify(state)}`,
        );
      }
      if (given > before) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(LOOK_AGAIN_MS, patienceMs));
        hear = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    unsubscribe(`payhook.${name}`, listener);
  }
}
