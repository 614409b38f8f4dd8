import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../../kernel/config.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError, reportOf } from '../command/errors.ts';
import { readRemoteFor, withClient } from '../command/session.ts';

/** A possible signer of a webhook. */
export interface Signer {
  /** null for a secret from --secret. */
  readonly endpoint: string | null;
  readonly secret: string;
}

export interface Signers {
  /** The signers known now. */
  known(): readonly Signer[];
  /**
   * The current signers, fetched after this call began, at most once a second for all callers. `trouble` says why they
   * could not be fetched.
   */
  ask(): Promise<{ readonly signers: readonly Signer[]; readonly trouble: string | null }>;
}

const PAUSE_MS = 1000;
const MOST_ENDPOINTS = 1000;

/** Secrets from --secret; nothing is fetched. */
export function givenSigners(secrets: readonly string[]): Signers {
  const signers = secrets.map((secret) => ({ endpoint: null, secret }));
  return { known: () => signers, ask: async () => ({ signers, trouble: null }) };
}

/**
 * The secrets of the account's endpoints, fetched from the API when needed. Throws UsageError or ConfigError if the
 * settings can never work.
 */
export function accountSigners(cli: Cli): Signers {
  if (readRemoteFor(cli.account()) === null) readConfig();
  let signers: readonly Signer[] = [];
  let trouble: string | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let waiting: Promise<void> | null = null;

  async function askNow(): Promise<void> {
    try {
      signers = await readSigners(cli);
      trouble = null;
    } catch (error) {
      const { message } = reportOf(error);
      if (message !== trouble) cli.terminal.note(`The secrets cannot be fetched: ${message}`);
      trouble = message;
    }
  }

  return {
    known: () => signers,
    async ask() {
      // a fetch in progress may have started before the endpoint was created, so the next one counts
      waiting ??= running.then(() => {
        waiting = null;
        const asked = askNow();
        running = asked.then(() => delay(PAUSE_MS));
        return asked;
      });
      await waiting;
      return { signers, trouble };
    },
  };
}

async function readSigners({ terminal, account }: Cli): Promise<Signer[]> {
  await requireData(account());
  return withClient({ terminal, account }, async (client) => {
    const signers: Signer[] = [];
    for await (const { id, signing } of client.webhookEndpoints.list({ sort: '-id' })) {
      // other schemes are verified with their own libraries
      if (signing !== 'standard' && signing !== 'ed25519') continue;
      const { secret } = await client.webhookEndpoints.secret(id).catch(nothingIfDeleted);
      if (secret !== null) signers.push({ endpoint: id, secret });
      if (signers.length === MOST_ENDPOINTS) break;
    }
    return signers;
  });
}

/** Never creates a database: listening needs none. */
async function requireData(account: string | undefined): Promise<void> {
  if (readRemoteFor(account) !== null) return;
  const { hasData, settingsHere } = await import('../../app/data-folder.ts');
  const { config } = settingsHere(readConfig());
  if (hasData(config)) return;
  throw new CommandError(
    `there is no Payhook data in ${config.dataDir}: set DATA_DIR, or PAYHOOK_URL and PAYHOOK_API_KEY, or give --secret`,
  );
}

function nothingIfDeleted(error: unknown): { secret: null } {
  if ((error as { status?: number }).status === 404) return { secret: null };
  throw error;
}
