import { readFileSync } from 'node:fs';
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

/** The maximum number of files this process may open (`ulimit -n`); Infinity if the system does not state it. */
function openFileLimit(): number {
  try {
    // proc_pid_limits(5): the first number is the soft limit
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return Number(soft ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
