import { randomBytes } from 'node:crypto';
import { chownSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Who may connect: processes that know the password, which is random and stored in the data folder. A socket in a
 * closed folder is not enough: PostgreSQL started by root runs as nobody, and other processes run as nobody too.
 */

const ACCESS_RULES = '# Payhook writes this file at each start.\nlocal all all scram-sha-256\n';

const passwordPath = (dataDir: string) => join(dataDir, 'postgres-password');

/** The password of a data folder's PostgreSQL; undefined when none was made yet. */
export function readPassword(dataDir: string): string | undefined {
  return readText(passwordPath(dataDir))?.trim() || undefined;
}

/**
 * Makes a password and stores it in the data folder, readable by its owner only. It is hexadecimal, so it needs no
 * quoting in SQL.
 */
export function makePassword(dataDir: string): string {
  const password = randomBytes(32).toString('hex');
  replaceFile(passwordPath(dataDir), `${password}\n`);
  return password;
}

/** Removes the password of a data folder in which no PostgreSQL could be made. */
export function forgetPassword(dataDir: string): void {
  rmSync(passwordPath(dataDir), { force: true });
}

/**
 * A password as an open, unlinked file. In: a folder to make it in; the password; the user id that reads it, or
 * null for ours. Out: its descriptor, which the caller closes.
 */
export function handOver(folder: string, password: string, reader: number | null): number {
  const path = `${folder}.password`;
  replaceFile(path, `${password}\n`, reader);
  try {
    return openSync(path, 'r');
  } finally {
    rmSync(path);
  }
}

/** Whether PostgreSQL asks everybody for the password. */
export function asksForPassword(pgdata: string): boolean {
  return readText(join(pgdata, 'pg_hba.conf')) === ACCESS_RULES;
}

/**
 * Makes PostgreSQL require the password from everybody, from its next start on. In: its data folder; the user id it
 * runs as, or null for ours.
 */
export function askForPassword(pgdata: string, owner: number | null): void {
  replaceFile(join(pgdata, 'pg_hba.conf'), ACCESS_RULES, owner);
}

function replaceFile(path: string, text: string, owner: number | null = null): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, text, { mode: 0o600, flush: true });
  if (owner !== null) chownSync(temporary, owner, owner);
  renameSync(temporary, path);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
