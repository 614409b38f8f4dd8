import type { Readable } from 'node:stream';
import { readNow } from '../../db/clock.ts';
import type { Database, Snapshot } from '../../db/database.ts';
import { betweenMigrations } from '../../db/held-locks.ts';
import { readApplied } from '../../db/migration-history.ts';
import { loggedWeeks } from '../../db/partitions.ts';
import {
  fixTexts,
  keepTables,
  type SavedTable,
  savedSequences,
  savedSums,
  savedTables,
  snapshotFacts,
  sourceOf,
} from '../../db/saved-tables.ts';
import { readSecretKeyState } from '../../db/secret-key.ts';
import { programVersion } from '../../kernel/version.ts';
import { type MadeBackup, noteBackup } from '../../people/system/backups.ts';
import { type ArchiveWriter, createArchive, partName } from './archive.ts';
import { type BackupFile, prepareBackupFile } from './backup-file.ts';
import { bestCompression, type Compression, compress, endingOf } from './compression.ts';
import { type Lock, lockOf } from './encryption.ts';
import { BackupError } from './errors.ts';
import { FORMAT, type Manifest } from './manifest.ts';

/** The size of a part in bytes of rows. Two parts are held in memory. */
const PART_BYTES = 4 * 1024 ** 2;
const LINE_END = 0x0a;

/** The result of a backup. */
export interface SavedBackup extends MadeBackup {
  readonly manifest: Manifest;
}

export interface SaveOptions {
  readonly db: Database;
  /** A new file, or a folder. */
  readonly target: string;
  readonly lock: Lock;
  /** Receives each table after it was saved. */
  readonly progress?: (table: string, rows: number) => void;
  /** Receives the temporary name of the file, so that an interrupted caller can remove it. */
  readonly begun?: (partial: string) => void;
}

/**
 * Saves a cell to one file, as of one instant, while others read and write. The file appears complete or not
 * at all. Throws BackupError with what to do. On any failure no file is left behind.
 */
export async function saveBackup({ db, target, lock, progress, begun }: SaveOptions): Promise<SavedBackup> {
  const startedAt = performance.now();
  const encrypt = await lockOf(lock);
  const backup = await prepareBackupFile(target, await readNow(db.reader), db.cell);
  begun?.(backup.partial);
  try {
    const archive = createArchive({ format: FORMAT, program: programVersion() });
    const bytes = encrypt ? await encrypt(archive.bytes) : archive.bytes;
    const { manifest, size } = await writeBoth({ db, backup, archive, bytes, progress });
    await backup.keep();
    const made: MadeBackup = {
      made_at: manifest.made_at,
      file: backup.file,
      size_bytes: size,
      duration_ms: Math.round(performance.now() - startedAt),
    };
    await db.transaction((tx) => noteBackup(tx, made));
    return { ...made, manifest };
  } finally {
    await backup.discard();
  }
}

/** Reads the database into the archive, and the archive into the file, until both are done or one fails. */
async function writeBoth({
  db,
  backup,
  archive,
  bytes,
  progress,
}: {
  db: Database;
  backup: BackupFile;
  archive: ArchiveWriter;
  bytes: Readable;
  progress: SaveOptions['progress'];
}): Promise<{ manifest: Manifest; size: number }> {
  const written = backup.write(bytes);
  // without a reader, writing to the archive would wait forever
  const failed = new Promise<never>((_, reject) => void written.catch(reject));
  failed.catch(() => undefined);
  const add = (name: string, content: Buffer) => Promise.race([archive.add(name, content), failed]);
  try {
    const manifest = await betweenMigrations(db, () =>
      db.snapshot((snapshot) => saveSnapshot(snapshot, add, progress)),
    );
    await Promise.race([archive.finish(manifest), failed]);
    return { manifest, size: await written };
  } catch (error) {
    archive.destroy(error as Error);
    // a failed file ends the archive, which may be reported before the file's own error
    const fault = await written.then(
      () => null,
      (reason: unknown) => reason,
    );
    throw fault instanceof BackupError ? fault : error;
  }
}

async function saveSnapshot(
  snapshot: Snapshot,
  add: ArchiveWriter['add'],
  progress: SaveOptions['progress'],
): Promise<Manifest> {
  await fixTexts(snapshot);
  const tables = await savedTables(snapshot);
  await keepTables(snapshot, tables);
  const facts = {
    format: FORMAT,
    program: programVersion(),
    cell: snapshot.cell,
    ...(await snapshotFacts(snapshot)),
    compression: bestCompression(),
    secret_key: await readSecretKeyState(snapshot),
    migrations: (await readApplied(snapshot)).map((each) => ({ ...each, checksum: each.checksum ?? '' })),
    weeks: await loggedWeeks(snapshot),
    sums: await savedSums(snapshot),
  } as const;
  const saved: Manifest['tables'] = [];
  for (const table of tables) {
    const { count, parts } = await saveTable(snapshot, table, { add, compression: facts.compression });
    saved.push({ name: table.name, columns: [...table.columns], rows: count, parts });
    progress?.(table.name, count);
  }
  // read after the tables: a number that was assigned meanwhile must not be assigned again
  return { ...facts, weeks: [...facts.weeks], tables: saved, sequences: await savedSequences(snapshot) };
}

async function saveTable(
  snapshot: Snapshot,
  table: SavedTable,
  { add, compression }: { add: ArchiveWriter['add']; compression: Compression },
): Promise<{ count: number; parts: number }> {
  let parts = 0;
  const count = await snapshot.copyThrough(`copy ${sourceOf(table)} to stdout`, async (stream) => {
    // one part is compressed while the previous one is written and the next one is read
    let writing: Promise<void> = Promise.resolve();
    for await (const part of inParts(stream)) {
      const name = partName(table.name, parts, endingOf(compression));
      const compressed = compress(part, compression);
      compressed.catch(() => undefined);
      await writing;
      writing = compressed.then((content) => add(name, content));
      writing.catch(() => undefined);
      parts += 1;
    }
    await writing;
  });
  return { count, parts };
}

/** The text of rows in pieces that end at a row boundary. */
async function* inParts(stream: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held.push(chunk);
    size += chunk.length;
    if (size < PART_BYTES) continue;
    const all = Buffer.concat(held);
    const end = all.lastIndexOf(LINE_END) + 1;
    const rest = all.subarray(end);
    held = rest.length > 0 ? [rest] : [];
    size = rest.length;
    // a row may be longer than a part
    if (end > 0) yield all.subarray(0, end);
  }
  if (size > 0) yield Buffer.concat(held);
}
