import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from '../db/embedded/owner.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from '../db/embedded/processes.ts';
import type { Config } from '../kernel/config.ts';

/** The address of a server from this machine: the configured one, else where the server of this data folder listens. */
export const addressOf = (config: Config): string =>
  config.baseUrl ?? recordedAddress(config) ?? plainAddress(config);

/** Where it can be reached from this machine. */
export function plainAddress({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `http://${name}` : `http://${name}:${port}`;
}

const folderOf = ({ dataDir }: Config) => join(dataDir, 'run');
const fileOf = (config: Config) => join(folderOf(config), 'server.json');

interface Recorded extends ProcessIdentity {
  readonly address: string;
}

/** Records where this process listens, for commands on the same data folder. Returns a function that removes the record. */
export function recordAddress(config: Config, address: string): () => void {
  // with a database elsewhere there may be no data folder
  if (!existsSync(config.dataDir)) return () => undefined;
  mkdirSync(folderOf(config), { recursive: true, mode: 0o700 });
  writeJson(fileOf(config), { ...ownIdentity(), address } satisfies Recorded);
  return () => {
    if (readJson(fileOf(config))?.pid === process.pid) rmSync(fileOf(config), { force: true });
  };
}

function recordedAddress(config: Config): string | null {
  const found = readJson(fileOf(config)) as Partial<Recorded> | null;
  if (typeof found?.pid !== 'number' || typeof found.address !== 'string') return null;
  return isAlive(found as Recorded) ? found.address : null;
}
