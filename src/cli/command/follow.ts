import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import type { Cli } from './cli.ts';
import { reportOf } from './errors.ts';
import { withClient } from './session.ts';

// Without a server, each poll would launch PostgreSQL, although nothing changes then.
const POLL_ALONE_MS = 5000;

/** A command that polls a server until it is stopped. */
interface Following {
  readonly everyMs: number;
  /** Resolves to true if there is more, and is then called again at once. */
  poll(client: Client): Promise<boolean>;
  /** The server has answered this command before; so if it cannot be reached at first, it is tried again too. */
  readonly hasWorked?: boolean;
  /** Called with each new problem; '' when it is over. */
  trouble(text: string): void;
}

/** Polls for ever. After the first success it reports an unreachable server and keeps trying. Throws other refusals. */
export async function follow(
  { terminal, account }: Cli,
  { everyMs, poll, trouble, hasWorked: worked = false }: Following,
): Promise<never> {
  let hasWorked = worked;
  let last = '';
  const say = (text: string) => {
    if (text !== last) trouble(text);
    last = text;
  };
  for (;;) {
    let pause = everyMs;
    try {
      await withClient({ terminal, account }, async (client, keepMs) => {
        const until = performance.now() + keepMs;
        for (;;) {
          const hasMore = await poll(client);
          hasWorked = true;
          say(keepMs === 0 ? 'No server is running on this data, so nothing is delivered.' : '');
          if (performance.now() + everyMs > until) break;
          if (!hasMore) await delay(everyMs);
        }
        if (keepMs === 0) pause = POLL_ALONE_MS;
      });
    } catch (error) {
      const { exitCode, unexpected, message } = reportOf(error);
      // a failed connection has no status
      const status = (error as { status?: number | null }).status ?? 500;
      const isRefusal = exitCode === 2 || (status < 500 && status !== 429);
      if (!hasWorked || unexpected || isRefusal) throw error;
      say(`${message}; retrying`);
    }
    await delay(pause);
  }
}
