import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import type { AddressRules } from '../kernel/addresses.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Threads } from '../threads/pool.ts';

/** What the server has for handlers, besides the request. A service takes the members it needs: `Pick<Env, 'vault'>`. */
export interface Env {
  /** Encrypts and decrypts values in the database. */
  readonly vault: Vault;
  /** For work that takes processor time: reading files and making documents. */
  readonly threads: Threads;
  /** The public address of the pages for people. It is known once the server listens. */
  readonly authorizeUrl: () => string;
  /** The addresses that webhooks may be sent to. */
  readonly addresses: AddressRules;
  /** The pauses before each attempt of a delivery, in milliseconds. */
  readonly scheduleMs: readonly number[];
  /** The limit on webhook endpoints of an account. */
  readonly mostEndpoints: number;
  /** Space on the disk of the data folder, in bytes; null when the database is elsewhere. */
  readonly disk: () => Promise<{ readonly free_bytes: number; readonly total_bytes: number } | null>;
  /** The replica of the database, as this server sees it; null = there is none. */
  readonly replica: Database['replica'];
  /** All cells of the installation. */
  readonly cells: Cells['list'];
}
