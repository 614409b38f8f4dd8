import type { Platform } from '../../app/platform.ts';
import type { Client } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { type Account, accountNamed, keepCurrent } from '../command/current-account.ts';
import { CommandError } from '../command/errors.ts';
import { readInteger } from '../command/numbers.ts';
import { withAccount, withPlatform } from '../command/session.ts';
import { untilStopped } from '../terminal/interrupt.ts';
import { count } from '../terminal/money.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { correct, payOut, takeAffiliates, takeCommissions } from './books.ts';
import { createDice } from './dice.ts';
import { openHooks, publishOrders } from './hooks.ts';
import { demoPeople } from './people.ts';
import { demoSales } from './sales.ts';
import { createStages } from './stages.ts';
import { describe, type Summary, summarize } from './summary.ts';

const COMMISSIONS = 5000;

/** `payhook demo`: fills an account. `seed` is the typed text. */
export async function demo({ terminal, account }: Cli, options: { seed: string }): Promise<undefined> {
  const begun = performance.now();
  const seed = readInteger('--seed', options.seed, { from: 0, to: 2 ** 32 - 1 });
  const stopped = untilStopped();
  const { work } = await import('../../app/serve.ts');
  const { addressOf } = await import('../../app/address.ts');
  await withPlatform(
    terminal,
    async (platform) => {
      if (stopped.aborted) throw interrupted('nothing was created');
      if (platform.firstKey) terminal.note(`Created the first API key, in ${platform.firstKey.path}`);
      const chosen = await choose({ platform, terminal }, account());
      await platform.accounts.markDemo(chosen.uuid);
      const worker = work(platform);
      try {
        const made = await withAccount({ platform, terminal, account: chosen }, async (client) => {
          await fill(client, { terminal, seed, stopped, name: chosen.name });
          const summary = await summarize(client, seed, (performance.now() - begun) / 1000);
          const { pagination } = await client.users.list({ per_page: 1 });
          return { summary, hasUsers: pagination.total > 0 };
        });
        await printSummary(terminal, made, platform, addressOf(platform.config));
      } finally {
        await worker.close();
      }
    },
    { makes: true },
  );
}

interface Filling {
  readonly terminal: Terminal;
  readonly seed: number;
  readonly stopped: AbortSignal;
  readonly name: string;
}

/** Runs all stages. However it ends, no enabled endpoint is left that would fail for days. */
async function fill(client: Client, { terminal, seed, stopped, name }: Filling): Promise<void> {
  const dice = createDice(seed);
  const people = demoPeople(dice);
  const sales = demoSales(dice, people, COMMISSIONS);
  const all = { client, stages: createStages(terminal, stopped), dice };
  const hooks = await openHooks(all);
  try {
    const affiliates = await takeAffiliates(all, people);
    await hooks.recover();
    const taken = await takeCommissions(all, affiliates, sales);
    await publishOrders(all, sales);
    await correct(all, taken);
    await payOut(all, taken);
    await hooks.settle();
  } catch (error) {
    await hooks.retire(true).catch(() => undefined);
    if (!stopped.aborted) throw error;
    throw interrupted(`what was created so far stays in the account ${name}; payhook demo starts a new one`);
  }
  await hooks.retire(false);
}

const interrupted = (what: string) => new CommandError(`interrupted: ${what}`, { code: 'interrupted' });

/** The account to fill. Throws a CommandError if the named one is not empty. */
async function choose(
  on: { platform: Platform; terminal: Terminal },
  wanted: string | undefined,
): Promise<Account> {
  const { accounts } = on.platform;
  const all = await accounts.list();
  const contentOf = (account: Account) => withAccount({ ...on, account }, content);
  if (wanted !== undefined) {
    const account = accountNamed(all, wanted);
    const found = await contentOf(account);
    if (found === null) return account;
    throw new CommandError(
      `the account ${account.name} is not empty: it has ${found}. Without --account, the demo creates its own account`,
      { code: 'conflict' },
    );
  }
  const [only, ...others] = all;
  if (only && others.length === 0 && (await contentOf(only)) === null) return only;
  const names = new Set(all.map(({ name }) => name));
  let name = 'Demo';
  for (let number = 2; names.has(name); number += 1) name = `Demo ${number}`;
  const { id: uuid, cell, json } = await accounts.create(name);
  keepCurrent(on.platform.config.dataDir, all);
  return { id: (JSON.parse(json) as { id: string }).id, uuid, name, cell };
}

/** The contents of an account as text; null = empty. */
async function content(client: Client): Promise<string | null> {
  const found: string[] = [];
  const ask = async (noun: string, list: PromiseLike<{ pagination: { total: number } }>) => {
    const { total } = (await list).pagination;
    if (total > 0) found.push(count(total, noun));
  };
  await ask('affiliate', client.affiliates.list({ per_page: 1 }));
  await ask('program', client.programs.list({ per_page: 1 }));
  await ask('webhook endpoint', client.webhookEndpoints.list({ per_page: 1 }));
  return found.length === 0 ? null : found.join(', ');
}

async function printSummary(
  terminal: Terminal,
  { summary, hasUsers }: { readonly summary: Summary; readonly hasUsers: boolean },
  { accounts }: Platform,
  address: string,
): Promise<void> {
  const { id, name } = summary.account;
  const isAlone = (await accounts.list()).length === 1;
  const flag = isAlone ? '' : ` --account ${/^[\w -]+$/.test(name) ? `"${name}"` : id}`;
  terminal.result(summary, () => describe(summary, { flag, url: address, hasUsers }, terminal));
}
