import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from '../db/embedded/owner.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../db/embedded/processes.ts';
import type { Config } from '../kernel/config.ts';

/** The address of a server from this machine: the configured one, else where the server of this data folder listens. */
export const addressOf = (config: Config): string =>
  config.baseUrl ?? recordedServer(config)?.address ?? plainAddress(config);

/** Where it can be reached from this machine. */
export function plainAddress({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `http://${name}` : `http://${name}:${port}`;
}

const folderOf = ({ dataDir }: Config) => join(dataDir, 'run');
const fileOf = (config: Config) => join(folderOf(config), 'server.json');

/** How often the processes of a server were replaced, and why the last one failed. */
export interface Reloads {
  readonly begun: number;
  readonly done: number;
  readonly problem: string | null;
}

interface Recorded extends ProcessIdentity {
  readonly address: string;
  /** Absent = the server has one process. */
  readonly reloads?: Reloads;
}

/** The record of a server. */
interface AddressRecord {
  note(more: { readonly address?: string; readonly reloads?: Reloads }): void;
  forget(): void;
}

/** Records where this process listens, for commands on the same data folder. */
export function recordAddress(config: Config, address: string): AddressRecord {
  let recorded: Pick<Recorded, 'address' | 'reloads'> = { address };
  const write = () => {
    // with a database elsewhere there may be no data folder
    if (!existsSync(config.dataDir)) return;
    mkdirSync(folderOf(config), { recursive: true, mode: 0o700 });
    writeJson(fileOf(config), { ...ownIdentity(), ...recorded } satisfies Recorded);
  };
  write();
  return {
    note(more) {
      recorded = { ...recorded, ...more };
      write();
    },
    forget() {
      if (readJson(fileOf(config))?.pid === process.pid) rmSync(fileOf(config), { force: true });
    },
  };
}

/** The running server of the data folder, or null. */
export function recordedServer(config: Config): Recorded | null {
  const found = readJson(fileOf(config)) as Partial<Recorded> | null;
  if (typeof found?.pid !== 'number' || typeof found.address !== 'string') return null;
  return isAlive(found as Recorded) ? (found as Recorded) : null;
}
