import type { Platform } from '../../app/platform.ts';
import type { Account } from '../command/current-account.ts';
import { withAccount } from '../command/session.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { correct, payOut, takeAffiliates, takeCommissions } from './books.ts';
import { createDice } from './dice.ts';
import { createHooks, publishOrders } from './hooks.ts';
import { demoPeople } from './people.ts';
import { demoSales } from './sales.ts';
import { createStages, type Stages } from './stages.ts';
import { type Summary, summarize } from './summary.ts';

const COMMISSIONS = 5000;
const QUIET: Pick<Terminal, 'spinner'> = {
  spinner: { watch: () => undefined, hold: () => () => undefined, clear: () => undefined },
};
const UNSEEN: Progress = { update: () => undefined, stop: () => undefined };

interface Filling {
  readonly account: Account;
  readonly seed: number;
  readonly stages: Stages;
  readonly terminal: Pick<Terminal, 'spinner'>;
}

/** Fills a new account with example data through the API, and returns its summary. */
export function fillDemo(
  platform: Platform,
  { account, seed, stages, terminal }: Filling,
): Promise<Omit<Summary, 'seconds'>> {
  return withAccount({ platform, terminal, account }, async (client) => {
    const dice = createDice(seed);
    const people = demoPeople(dice);
    const sales = demoSales(dice, people, COMMISSIONS);
    const all = { client, stages, dice };
    const affiliates = await takeAffiliates(all, people);
    const taken = await takeCommissions(all, affiliates, sales);
    await publishOrders(all, sales);
    await correct(all, taken);
    await payOut(all, taken, sales);
    await platform.accounts.writePast(account.uuid, await createHooks(all));
    return summarize(client, seed);
  });
}

/** Fills a new account for a server, which shows no progress. */
export async function fillQuietly(platform: Platform, account: Account): Promise<void> {
  await fillDemo(platform, { account, seed: 1, stages: createStages(async () => UNSEEN), terminal: QUIET });
}
