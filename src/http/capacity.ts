import type { Logger } from 'pino';
import type { Config } from '../kernel/config.ts';

const MOST_CONNECTIONS = 10_000;
// Files for the log, listening sockets, and what libraries open for a moment.
const OTHER_FILES = 64;

/** What a server is for, and where to warn when there is too little room. */
export interface Purpose {
  /** Whether it listens on a port; a socket of our own command line needs no limit. */
  readonly isPublic: boolean;
  /** Whether it delivers webhooks too. */
  readonly delivers: boolean;
  readonly log: Logger;
}

/**
 * How many connections may be open at once: as configured, or what the limit of open files leaves besides the
 * database connections, uploads and deliveries of this process, and at least a quarter of it. Warns when that is
 * too little.
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

/** How many files this process may have open (`ulimit -n`); Infinity where the system does not say. */
function openFileLimit(): number {
  // Node shows the limits of the process nowhere else; the rest of the report would ask the network for names
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as unknown as Report;
  const limit = userLimits?.open_files?.soft;
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}
