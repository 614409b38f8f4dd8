import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccountSetting } from '../../kernel/config.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { CommandError, UsageError } from './errors.ts';

export interface Account {
  readonly id: string;
  readonly uuid: AccountId;
  readonly name: string;
  readonly cell: number;
}

const fileOf = (dataDir: string) => join(dataDir, 'current-account');

/** The id of the account that commands work on by default; null when none was chosen. */
export function currentAccount(dataDir: string): string | null {
  try {
    return readFileSync(fileOf(dataDir), 'utf8').trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Makes an account the current one of a data folder. */
export function useAccount(dataDir: string, { id }: Pick<Account, 'id'>): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(fileOf(dataDir), `${id}\n`, { mode: 0o600 });
  chmodSync(fileOf(dataDir), 0o600);
}

/**
 * Makes the first account the current one when a second is added, so that commands without --account keep working on it.
 * `before` lists the accounts before the addition.
 */
export function keepCurrent(dataDir: string, before: readonly Account[]): void {
  const [only, ...others] = before;
  if (only && others.length === 0 && currentAccount(dataDir) === null) useAccount(dataDir, only);
}

/**
 * The account a command works on: --account (`wanted`), else PAYHOOK_ACCOUNT, the current one, or the only one. Throws
 * CommandError if it does not exist, and UsageError if there are several to choose from.
 */
export function accountFor(
  accounts: readonly Account[],
  wanted: string | undefined,
  dataDir: string,
): Account {
  const named = wanted ?? readAccountSetting();
  if (named !== undefined) return accountNamed(accounts, named);
  const current = currentAccount(dataDir);
  if (current !== null) {
    const found = accounts.find(({ id }) => id === current);
    if (found) return found;
    throw new CommandError(
      `the current account ${current} is not in this database: choose another with payhook accounts use; there are ${listOf(accounts)}`,
    );
  }
  const [only, ...others] = accounts;
  if (only === undefined)
    throw new CommandError('there is no account: create one with payhook accounts create');
  if (others.length === 0) return only;
  throw new UsageError(
    `several accounts: choose one with --account or PAYHOOK_ACCOUNT, or once with payhook accounts use: ${listOf(accounts)}`,
  );
}

/** The account with an id or a name. Throws like `accountFor`. */
export function accountNamed(accounts: readonly Account[], wanted: string): Account {
  const named = accounts.filter(({ id, name }) => id === wanted || name === wanted);
  const [account, ...others] = named;
  if (account === undefined) {
    throw new CommandError(`no account has the id or name ${wanted}; there are ${listOf(accounts)}`);
  }
  if (others.length > 0) throw new UsageError(`several accounts: choose one by its id: ${listOf(named)}`);
  return account;
}

const listOf = (accounts: readonly Account[]) => accounts.map(({ id, name }) => `${id} (${name})`).join(', ');
