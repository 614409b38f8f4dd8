import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatIdentity, isAlive, ownIdentity, type ProcessIdentity, parseIdentity } from './processes.ts';

/** The process that launched the running PostgreSQL and therefore stops it; DATA_DIR/run/owner.json. */
export interface Owner extends ProcessIdentity {
  readonly purpose: 'serve' | 'command';
  readonly socketDir: string;
  readonly port: number;
  /** A server that stops: workers leave it. */
  readonly stopping?: true;
}

/** In: the run folder. Out: the living owner; null if there is none or it died without taking the file away. */
export function readOwner(runDir: string): Owner | null {
  const owner = readJson(join(runDir, 'owner.json'));
  return isOwner(owner) && isAlive(owner) ? owner : null;
}

/** Makes this process the owner; readers see the old file or the whole new one. */
export function writeOwner(
  runDir: string,
  owner: Pick<Owner, 'purpose' | 'socketDir' | 'port' | 'stopping'>,
): void {
  writeJson(join(runDir, 'owner.json'), { ...ownIdentity(), ...owner });
}

/** Removes the owner file, whoever wrote it. Only under the start lock. */
export function removeOwner(runDir: string): void {
  rmSync(join(runDir, 'owner.json'), { force: true });
}

/** Announces this process as the server that waits for the database; commands give way to it. */
export function announceServer(runDir: string): void {
  writeJson(join(runDir, 'next.json'), ownIdentity());
}

/** Withdraws announceServer, unless another process has announced itself since. */
export function withdrawServer(runDir: string): void {
  if (readJson(join(runDir, 'next.json'))?.pid === process.pid) {
    rmSync(join(runDir, 'next.json'), { force: true });
  }
}

/** Out: the pid of the living server that waits to take the database over; null if none does. */
export function waitingServer(runDir: string): number | null {
  const next = readJson(join(runDir, 'next.json'));
  return isIdentity(next) && isAlive(next) ? next.pid : null;
}

let joins = 0;

/** Notes that this process uses a PostgreSQL launched by another. Out: removes the note; may be called twice. */
export function registerUser(runDir: string): () => void {
  const users = join(runDir, 'users');
  mkdirSync(users, { recursive: true, mode: 0o700 });
  joins += 1;
  const note = join(users, `${formatIdentity(ownIdentity())}-${joins}`);
  writeFileSync(note, '', { mode: 0o600 });
  return () => rmSync(note, { force: true });
}

/** Pids of the living processes that use the database without having launched it; removes notes of dead ones. */
export function liveUsers(runDir: string): number[] {
  const users = join(runDir, 'users');
  const pids: number[] = [];
  for (const name of listNames(users)) {
    const identity = parseIdentity(name);
    if (identity && isAlive(identity)) pids.push(identity.pid);
    else rmSync(join(users, name), { force: true });
  }
  return pids;
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isIdentity(
  value: Record<string, unknown> | null,
): value is Record<string, unknown> & ProcessIdentity {
  return (
    typeof value?.pid === 'number' && typeof value.startTime === 'string' && typeof value.boot === 'string'
  );
}

function isOwner(value: Record<string, unknown> | null): value is Record<string, unknown> & Owner {
  return (
    isIdentity(value) &&
    (value.purpose === 'serve' || value.purpose === 'command') &&
    typeof value.socketDir === 'string' &&
    typeof value.port === 'number'
  );
}

/** In: a file. Out: the object in it; null if it is missing or holds anything else. */
export function readJson(path: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Writes an object to a file at once: a reader never sees half of it. */
export function writeJson(path: string, value: object): void {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  renameSync(temporary, path);
}
