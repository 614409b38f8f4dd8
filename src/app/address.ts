import type { Config } from '../kernel/config.ts';

/** Where a server with these settings can be reached. */
export const addressOf = (config: Config): string => config.baseUrl ?? plainAddress(config);

/** Where it can be reached from this machine. */
export function plainAddress({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `http://${name}` : `http://${name}:${port}`;
}
