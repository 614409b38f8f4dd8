import { programPath } from '../../src/kernel/installation.ts';
import { createThreads, type Threads } from '../../src/threads/pool.ts';
import { keepHouse } from '../support/chores.ts';
import type { World } from '../support/world.ts';

/** Sends the e-mails to affiliates that are due, at once instead of at the next look of a server. */
export interface NoticeSender {
  send(world: World): Promise<void>;
  /** Ends the threads that made attached documents. */
  close(): Promise<void>;
}

export function noticeSender(): NoticeSender {
  const threads: Threads = createThreads({
    program: programPath('app/thread'),
    files: 2,
    onTask: () => undefined,
    onEnded: () => undefined,
  });
  return {
    send({ platform, db }) {
      const withThreads = { ...platform, threads };
      return keepHouse({ platform: withThreads, db }, 'affiliate notices');
    },
    close: threads.close,
  };
}
