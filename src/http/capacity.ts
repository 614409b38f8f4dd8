import type { Logger } from 'pino';
import type { Config } from '../kernel/config.ts';

const MOST_CONNECTIONS = 10_000;
// Reserved for the log, listening sockets, and files that libraries open briefly.
const OTHER_FILES = 64;

/** The purpose of a server, and where to warn if there is too little room. */
export interface Purpose {
  /** Whether it listens on a port. The socket of our own command line needs no limit. */
  readonly isPublic: boolean;
  /** Whether it also delivers webhooks. */
  readonly delivers: boolean;
  readonly log: Logger;
}

/**
 * The maximum number of open connections: as configured, or what the limit of open files leaves after the database
 * connections, uploads and deliveries of this process, but at least a quarter of it. Warns if that is too little.
 */
export function connectionsFor(
  { http, databasePoolSize, delivery }: Config,
  { isPublic, delivers, log }: Purpose,
): number {
  if (http.connections !== undefined || !isPublic) return http.connections ?? Number.POSITIVE_INFINITY;
  const files = openFileLimit();
  // a connection to a receiver is kept for the next attempt while another one is opened
  const deliveries = delivers ? 2 * delivery.concurrency : 0;
  const left = files - (3 * databasePoolSize + deliveries + http.uploads + OTHER_FILES);
  const least = Math.floor(files / 4);
  const connections = Math.min(Math.max(left, least), MOST_CONNECTIONS);
  if (left < least) {
    log.warn({ files, connections }, 'the limit of open files (ulimit -n) is low: raise it');
  }
  return connections;
}

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
}

/** The maximum number of files this process may open (`ulimit -n`); Infinity if the system does not state it. */
function openFileLimit(): number {
  // only the report contains the limits of the process; the rest of it would resolve names over the network
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as unknown as Report;
  const limit = userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}
