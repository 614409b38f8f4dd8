import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ROOT } from '../kernel/installation.ts';

const FOLDER = new URL('migrations/', ROOT);
const FROZEN = 'checksums.json';

/** A database this program must not touch: of another history, too old a PostgreSQL, wrong encoding. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

export interface Migration {
  readonly version: number;
  /** The file's name without its ending. */
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text in hexadecimal. */
  readonly checksum: string;
}

/**
 * The migrations of this program, oldest first. In: their folder. Throws MigrationError when one differs from the
 * checksum in checksums.json: it was edited, or the installation is damaged.
 */
export function readMigrations(folder = FOLDER): Migration[] {
  const frozen = frozenChecksums(folder);
  const migrations = allMigrations(folder);
  const twin = migrations.find(({ version }, index) => version === migrations[index + 1]?.version);
  if (twin) throw new MigrationError(`migrations/${twin.name}.sql has the number of another one`);
  for (const [name, checksum] of Object.entries(frozen)) {
    const found = migrations.find((migration) => migration.name === name);
    if (found?.checksum === checksum) continue;
    const what = found ? 'is not the file that was released' : 'is missing';
    throw new MigrationError(
      `migrations/${name}.sql ${what}: reinstall this version of Payhook (a migration in ${FROZEN} never changes)`,
    );
  }
  return migrations;
}

/** The version that this program brings a database to. */
export function newestVersion(): number {
  return allMigrations(FOLDER).at(-1)?.version ?? 0;
}

/** The recorded checksums, by the migration's name. */
export function frozenChecksums(folder = FOLDER): Record<string, string> {
  const path = new URL(FROZEN, folder);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
}

function allMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z_]+\.sql$/.test(name))
    .sort()
    .map((file) => {
      // Git may check files out with the line ends of another system.
      const text = readFileSync(new URL(file, folder), 'utf8').replaceAll('\r\n', '\n');
      return {
        version: Number(file.slice(0, 4)),
        name: file.replace(/\.sql$/, ''),
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      };
    });
}
