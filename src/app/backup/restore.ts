import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { bareTables, dressTables } from '../../db/bare-tables.ts';
import { hasNodes, placeOnNode } from '../../db/citus.ts';
import type { Database, Tx } from '../../db/database.ts';
import { applyMigrations, lockStarts, refuseUnusable } from '../../db/migrate.ts';
import { readMigrations } from '../../db/migration-files.ts';
import { makePartitions } from '../../db/partitions.ts';
import {
  anyRelation,
  countSaved,
  fixTexts,
  placeOf,
  type SavedSum,
  savedSums,
  savedTables,
  setSequence,
} from '../../db/saved-tables.ts';
import { type Credential, endCredentials, findCredentials } from '../../people/credentials.ts';
import { checkArchive, partOf, readArchive } from './archive.ts';
import { decompressor } from './compression.ts';
import type { Key } from './encryption.ts';
import { BackupError } from './errors.ts';
import type { Manifest } from './manifest.ts';

/** The result of a restore, compared with the manifest. */
export interface Restored {
  readonly manifest: Manifest;
  /** The number of rows in all tables. */
  readonly rows: number;
  readonly sums: readonly SavedSum[];
  /** Migrations applied to the restored rows. */
  readonly migrated: readonly string[];
  /** The credentials in the backup. They were revoked if requested. */
  readonly credentials: readonly Credential[];
}

/** An empty database that is open. */
interface OpenForRestore {
  readonly db: Database;
  /** Checks the restored rows before the transaction ends. Throws. */
  verify?(tx: Tx): Promise<void>;
  close(): Promise<void>;
}

export interface RestoreOptions {
  /** Connects the database. Called only after the file was verified. */
  readonly open: () => Promise<OpenForRestore>;
  /** The number of the cell that the database is for. */
  readonly cell: number;
  readonly file: string;
  readonly key: Key;
  /** Revokes the credentials in the backup. */
  readonly endsCredentials: boolean;
  /** Receives the manifest after the file was verified. */
  readonly checked?: (manifest: Manifest) => void;
  /** Receives each table after its rows were copied. */
  readonly progress?: (table: string) => void;
}

/**
 * Restores a backup into an empty database, in one transaction: if anything fails, the database stays empty. The file is
 * read twice, and the database is not touched before the file was verified. Throws BackupError with what to do.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { open, file, key, checked } = options;
  const manifest = await checkArchive(file, key);
  refuseOtherCell(manifest, options);
  refuseForeign(file, manifest);
  decompressor(manifest.compression).destroy();
  checked?.(manifest);
  const { db, verify, close } = await open();
  try {
    return await db.transaction(
      async (tx) => {
        const restored = await restoreInto(tx, manifest, options);
        await verify?.(tx);
        // in this transaction, before a server uses the cell
        if (options.cell !== 0 && (await hasNodes(tx))) await placeOnNode(tx);
        return restored;
      },
      { takesLong: true },
    );
  } finally {
    await close();
  }
}

/** Throws BackupError if the backup is of another cell: accounts, keys and links name their cell. */
function refuseOtherCell({ cell: saved = 0 }: Manifest, { file, cell }: RestoreOptions): void {
  if (saved === cell) return;
  throw new BackupError(
    `${file} is a backup of cell ${saved}, not of cell ${cell}: restore it ${saved === 0 ? 'without --cell' : `with --cell ${saved}`}`,
  );
}

/** Throws BackupError if this program does not know the backup's migrations. */
function refuseForeign(file: string, { migrations, program }: Manifest): void {
  const own = readMigrations();
  for (const { version, name, checksum } of migrations) {
    const known = own.find((each) => each.name === name);
    if (known?.checksum === checksum) continue;
    const newest = own.at(-1)?.version ?? 0;
    throw new BackupError(
      version > newest
        ? `${file} has schema ${version}, which Payhook ${program} made; this program knows up to ${newest}: ` +
            'restore it with the newer program'
        : `${file} was made with migration ${name}, which this program does not have in this form: ` +
            `restore it with the program that made it (Payhook ${program})`,
    );
  }
}

async function restoreInto(tx: Tx, manifest: Manifest, options: RestoreOptions): Promise<Restored> {
  await lockStarts(tx);
  await refuseUnusable(tx);
  const found = await anyRelation(tx);
  if (found !== null) {
    throw new BackupError(
      `the database is not empty, it has ${found}: restore into a new one, named by --data-dir or DATABASE_URL`,
    );
  }
  await applyMigrations(tx, manifest.migrations.at(-1)?.version);
  await fixTexts(tx);
  const statements = await bareTables(tx);
  await makePartitions(tx, manifest.weeks);
  await refuseOtherTables(tx, manifest, options.file);
  await load(tx, manifest, options);
  for (const sequence of manifest.sequences) await setSequence(tx, sequence);
  const compared = await compare(tx, manifest, options.file);
  await dressTables(tx, statements);
  const { applied } = await applyMigrations(tx);
  const credentials = await findCredentials(tx);
  if (options.endsCredentials) await endCredentials(tx);
  return { manifest, ...compared, migrated: applied, credentials };
}

/** Throws BackupError unless the backup has every table that its migrations create, with the same columns. */
async function refuseOtherTables(tx: Tx, manifest: Manifest, file: string): Promise<void> {
  const saved = new Map(manifest.tables.map(({ name, columns }) => [name, [...columns].sort().join()]));
  const weeks = /_\d{8}$/;
  const made = await savedTables(tx);
  for (const { name, columns } of made) {
    if (!saved.has(name) && weeks.test(name)) continue; // created in advance
    if (saved.get(name) === [...columns].sort().join()) saved.delete(name);
    else
      throw new BackupError(
        `${file} has a table ${name} that differs from that of its migrations: use another backup`,
      );
  }
  const [unknown] = saved.keys();
  if (unknown !== undefined && !made.some(({ name }) => name === unknown)) {
    throw new BackupError(
      `${file} has a table ${unknown} that its migrations do not create: use another backup`,
    );
  }
}

/** Reads the file a second time and copies the rows. */
async function load(tx: Tx, manifest: Manifest, { file, key, progress }: RestoreOptions): Promise<void> {
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  let current: { name: string; next: number; copy: Copy } | undefined;
  const end = async () => {
    if (current === undefined) return;
    const { name, copy } = current;
    current = undefined;
    await copy.end();
    progress?.(name);
  };
  await readArchive(file, key, async (name, content) => {
    const part = partOf(name);
    if (part === null) return drain(content);
    if (current?.name !== part.table) {
      await end();
      const table = tables.get(part.table);
      if (table === undefined) throw new BackupError(`${file} has rows of an unknown table ${part.table}`);
      // freeze: vacuum need not visit the rows of a table created in this transaction
      current = {
        name: table.name,
        next: 0,
        copy: beginCopy(tx, `copy ${placeOf(table)} from stdin (freeze)`),
      };
    }
    if (part.number !== current.next)
      throw new BackupError(`${file}: the parts of ${part.table} are out of order`);
    current.next += 1;
    await current.copy.add(content, manifest);
  });
  await end();
}

async function drain(content: Readable): Promise<void> {
  content.resume();
  await once(content, 'end');
}

interface Copy {
  add(content: Readable, manifest: Manifest): Promise<void>;
  end(): Promise<void>;
}

function beginCopy(tx: Tx, statement: string): Copy {
  const stream: Writable = tx.copyIn(statement);
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  return {
    async add(content, { compression }) {
      if (failure) throw failure;
      // a manual loop: the parts of a table share the stream, and a pipeline as its end would add listeners for each part
      await pipeline(content, decompressor(compression), (plain) => writeTo(stream, plain));
    },
    async end() {
      if (failure) throw failure;
      stream.end();
      await once(stream, 'finish');
    },
  };
}

/** Writes the content with backpressure, and leaves the stream open. Throws if the stream fails. */
async function writeTo(stream: Writable, content: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of content) {
    if (stream.errored) throw stream.errored;
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
}

/** Counts every table and adds up the money. Throws BackupError if the manifest differs. */
async function compare(
  tx: Tx,
  { tables, sums }: Manifest,
  file: string,
): Promise<Pick<Restored, 'rows' | 'sums'>> {
  let all = 0;
  for (const table of tables) {
    const count = await countSaved(tx, table);
    if (count !== table.rows) {
      throw new BackupError(
        `${table.name} has ${count} rows, but ${file} says ${table.rows}: use another backup`,
      );
    }
    all += count;
  }
  const found = await savedSums(tx);
  if (JSON.stringify(found) !== JSON.stringify(sums)) {
    throw new BackupError(
      `the sums are ${JSON.stringify(found)}, but ${file} says ${JSON.stringify(sums)}: use another backup`,
    );
  }
  return { rows: all, sums: found };
}
