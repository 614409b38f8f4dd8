import type { Config } from '../kernel/config.ts';

/** The address of a server from this machine. */
export const addressOf = (config: Config): string => config.baseUrl ?? plainAddress(config);

/** Where it can be reached from this machine. */
export function plainAddress({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `http://${name}` : `http://${name}:${port}`;
}
