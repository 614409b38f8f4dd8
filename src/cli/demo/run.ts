import type { Platform } from '../../app/platform.ts';
import type { Cli } from '../command/cli.ts';
import { type Account, keepCurrent } from '../command/current-account.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readInteger } from '../command/numbers.ts';
import { withAccount, withPlatform } from '../command/session.ts';
import { untilStopped } from '../terminal/interrupt.ts';
import { startCounter } from '../terminal/progress.ts';
import { fillDemo } from './fill.ts';
import { createStages } from './stages.ts';
import { describe } from './summary.ts';

const NAME = 'Demo';

/** `payhook demo`: creates the account Demo and fills it. `seed` is the typed text. */
export async function demo({ terminal, account }: Cli, options: { seed: string }): Promise<undefined> {
  const begun = performance.now();
  const seed = readInteger('--seed', options.seed, { from: 0, to: 2 ** 32 - 1 });
  if (account() !== undefined)
    throw new UsageError('--account has no effect: the demo always creates an account named Demo');
  const stopped = untilStopped();
  const { addressOf } = await import('../../app/address.ts');
  await withPlatform(
    terminal,
    async (platform) => {
      if (stopped.aborted) throw interrupted('nothing was created');
      if (platform.firstKey) terminal.note(`Created the first API key, in ${platform.firstKey.path}`);
      const made = await create(platform);
      const stages = createStages((what, total) => startCounter(terminal, what, total), stopped);
      try {
        const filled = await fillDemo(platform, { account: made, seed, stages, terminal });
        const summary = { ...filled, seconds: (performance.now() - begun) / 1000 };
        const hasUsers = await withAccount({ platform, terminal, account: made }, async (client) => {
          const { pagination } = await client.users.list({ per_page: 1 });
          return pagination.total > 0;
        });
        const url = addressOf(platform.config);
        terminal.result(summary, () =>
          describe(summary, { flag: ` --account ${NAME}`, url, hasUsers }, terminal),
        );
      } catch (error) {
        await platform.accounts.remove(made.uuid).catch(() => undefined);
        throw stopped.aborted ? interrupted(`the account ${NAME} was deleted again`) : error;
      }
    },
    { makes: true },
  );
}

const interrupted = (what: string) => new CommandError(`interrupted: ${what}`, { code: 'interrupted' });

/** Creates the account. Throws a CommandError if there is one of its name. */
async function create({ accounts, config }: Platform): Promise<Account> {
  const all = await accounts.list();
  const earlier = all.find(({ name }) => name === NAME);
  if (earlier !== undefined) {
    throw new CommandError(
      `there is an account named ${NAME} already (${earlier.id}): delete it with payhook accounts delete ${NAME}, then run payhook demo again`,
      { code: 'conflict' },
    );
  }
  const { id: uuid, cell, json } = await accounts.create(NAME);
  keepCurrent(config.dataDir, all);
  await accounts.markDemo(uuid);
  return { id: (JSON.parse(json) as { id: string }).id, uuid, name: NAME, cell };
}
