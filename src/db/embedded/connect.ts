import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';

/** How to reach the database, as pg's options of the same names; `host` is the folder of the unix socket. */
export interface EmbeddedConnection {
  host: string;
  port: number;
  user: string;
  /** undefined only while a Payhook from before there were passwords runs it. */
  password: string | undefined;
  database: string;
}

/** The role of the program: owner of its database and no superuser. */
const APP_ROLE = 'payhook';
const APP_DATABASE = 'payhook';
export const SUPERUSER = 'postgres';
export const PORT = 5432;

const POLL_MS = 5;

/** Not there yet: no socket, nothing listening, still starting, still recovering, or just shutting down. */
const NOT_READY = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03', '53300']);
/** An unknown role is refused like one with a wrong password. */
const MISSING_ROLE_OR_DATABASE = new Set(['28000', '28P01', '3D000']);

/** Where the program connects to: its own role and database. In: folder of the socket; the password. */
export function appConnection(socketDir: string, password: string | undefined): EmbeddedConnection {
  return { host: socketDir, port: PORT, user: APP_ROLE, password, database: APP_DATABASE };
}

/** The same as superuser. */
export function superuserConnection(socketDir: string, password: string | undefined): EmbeddedConnection {
  return { host: socketDir, port: PORT, user: SUPERUSER, password, database: 'postgres' };
}

/**
 * Waits until the database accepts connections of the program's role.
 * In: the connection; `giveUp`, called between attempts: a reason ends the wait.
 * Out: `ready`, or `incomplete` when the server runs but role or database do not exist yet.
 * Errors: the error `giveUp` returns; errors of pg that waiting cannot cure.
 */
export async function untilReady(
  connection: EmbeddedConnection,
  giveUp: () => Error | null,
): Promise<'ready' | 'incomplete'> {
  for (;;) {
    const reason = giveUp();
    if (reason) throw reason;
    try {
      await withClient(connection, async () => undefined);
      return 'ready';
    } catch (error) {
      const code = errorCode(error);
      if (MISSING_ROLE_OR_DATABASE.has(code)) return 'incomplete';
      if (!NOT_READY.has(code) && !isClosedEarly(error)) throw error;
    }
    await delay(POLL_MS);
  }
}

/**
 * Creates the program's role and database if they are missing, and gives the role the superuser's password. May be
 * repeated, also after a crash halfway.
 * In: a connection as superuser to the database `postgres`.
 */
export async function createRoleAndDatabase(superuser: EmbeddedConnection): Promise<void> {
  await withClient(superuser, async (client) => {
    const roles = await client.query('select 1 from pg_roles where rolname = $1', [APP_ROLE]);
    if (roles.rowCount === 0) {
      await client.query(`create role ${APP_ROLE} login nosuperuser nocreatedb nocreaterole`);
    }
    await client.query(`alter role ${APP_ROLE} password ${client.escapeLiteral(superuser.password ?? '')}`);
    const databases = await client.query('select 1 from pg_database where datname = $1', [APP_DATABASE]);
    if (databases.rowCount === 0) {
      await client.query(
        `create database ${APP_DATABASE} owner ${APP_ROLE} template template0 encoding 'UTF8'`,
      );
    }
  });
}

/** Whether anything answers at a socket folder, including PostgreSQL of another container. */
export async function somebodyAnswers(socketDir: string): Promise<boolean> {
  try {
    await withClient(superuserConnection(socketDir, undefined), async () => undefined);
    return true;
  } catch (error) {
    return !['ENOENT', 'ECONNREFUSED', 'ENOTSOCK', 'EINVAL'].includes(errorCode(error));
  }
}

async function withClient<T>(
  connection: EmbeddedConnection,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  // ssl is set because pg would otherwise read PGSSLMODE from the environment.
  const client = new Client({ ...connection, ssl: false, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isClosedEarly(error: unknown): boolean {
  return error instanceof Error && /Connection terminated|timeout/i.test(error.message);
}
