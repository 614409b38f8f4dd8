import { availableParallelism } from 'node:os';

/** The settings that the number of processes depends on. */
interface Divisible {
  readonly processes: number | undefined;
  readonly databaseUrl: string | undefined;
  readonly databasePoolSize: number;
  readonly databaseConnections: number | undefined;
  readonly http: {
    readonly connections: number | undefined;
    readonly perAddress: number | undefined;
    readonly uploads: number;
  };
  readonly delivery: { readonly concurrency: number };
}

const MOST_BY_DEFAULT = 8;
/** The minimum of DATABASE_CONNECTIONS for one process. */
const FEWEST_CONNECTIONS = 10;

/** The limits that are divided among the processes, with the least that one of them needs. */
const dividedLimits = ({ databasePoolSize, databaseConnections, http, delivery }: Divisible) =>
  [
    { name: 'DATABASE_POOL_SIZE', value: databasePoolSize, least: 1 },
    { name: 'DATABASE_CONNECTIONS', value: databaseConnections, least: FEWEST_CONNECTIONS },
    { name: 'MAX_CONNECTIONS', value: http.connections, least: 1 },
    { name: 'MAX_CONNECTIONS_PER_ADDRESS', value: http.perAddress, least: 1 },
    { name: 'MAX_UPLOADS', value: http.uploads, least: 1 },
    { name: 'DELIVERY_CONCURRENCY', value: delivery.concurrency, least: 1 },
  ] as const;

/**
 * How many processes serve: PROCESSES, or one for each core. The embedded PostgreSQL takes about as much processor time as they do, so
 * next to it there is one for every second core. At most 8 by default, and one on one or two cores.
 */
export function processesOf(config: Divisible, cores: number = availableParallelism()): number {
  if (config.processes !== undefined) return config.processes;
  if (cores <= 2) return 1;
  const wanted = config.databaseUrl === undefined ? Math.floor(cores / 2) : cores;
  const possible = dividedLimits(config).map(({ value = Number.POSITIVE_INFINITY, least }) =>
    Math.floor(value / least),
  );
  return Math.max(1, Math.min(wanted, MOST_BY_DEFAULT, ...possible));
}

/** The limits that are too small to be divided among PROCESSES, as messages. */
export function undividable(config: Divisible): string[] {
  const { processes = 1 } = config;
  return dividedLimits(config).flatMap(({ name, value, least }) =>
    value === undefined || value >= least * processes
      ? []
      : [`${name} must be at least ${least * processes} with PROCESSES=${processes}, which share it`],
  );
}

/** The settings of process `index` (from 0) of `count`: its part of each limit. The parts add up to the limit. */
export function shareOf<Config extends Divisible>(config: Config, index: number, count: number): Config {
  const part = <Value extends number | undefined>(value: Value) =>
    (value === undefined ? undefined : Math.floor(value / count) + (index < value % count ? 1 : 0)) as Value;
  const { http, delivery } = config;
  return {
    ...config,
    databasePoolSize: part(config.databasePoolSize),
    databaseConnections: part(config.databaseConnections),
    http: {
      ...http,
      connections: part(http.connections),
      perAddress: part(http.perAddress),
      uploads: part(http.uploads),
    },
    delivery: { ...delivery, concurrency: part(delivery.concurrency) },
  };
}
