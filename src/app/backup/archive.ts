import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract, pack } from 'tar-stream';
import { isLocked, type Key, MAGIC_BYTES, unlock } from './encryption.ts';
import { BackupError } from './errors.ts';
import { type Manifest, notOurs, readIntroduction, readManifest } from './manifest.ts';

/*
 * A backup is a tar file: an introduction, the parts of each table, the manifest, and the SHA-256 of each entry in the
 * format of `sha256sum`. Without Payhook, `tar x` and `sha256sum -c SHA256SUMS` open and check it.
 */

const INTRODUCTION = 'payhook-backup.json';
const MANIFEST = 'manifest.json';
const SUMS = 'SHA256SUMS';
/** The maximum size of an entry other than a part, which is held in memory. */
const LARGEST_TEXT = 512 * 1024 ** 2;
const PRIVATE = 0o600;

export interface ArchiveWriter {
  /** The bytes of the file. */
  readonly bytes: Readable;
  add(name: string, content: Buffer): Promise<void>;
  /** Adds the manifest and the hashes. Nothing can be added afterwards. */
  finish(manifest: Manifest): Promise<void>;
  /** Aborts: `bytes` fails with the error. */
  destroy(error: Error): void;
}

/** Begins an archive with its introduction. */
export function createArchive({ format, program }: Pick<Manifest, 'format' | 'program'>): ArchiveWriter {
  const tar = pack();
  const sums: string[] = [];
  const mtime = new Date();
  const write = (name: string, content: Buffer) =>
    new Promise<void>((resolve, reject) => {
      const entry = tar.entry({ name, mtime, mode: PRIVATE }, content, (error?: Error | null) =>
        error ? reject(error) : resolve(),
      );
      // it fails together with the file, which reports why
      entry.on('error', reject);
    });
  const add = (name: string, content: Buffer) => {
    sums.push(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
    return write(name, content);
  };
  const addJson = (name: string, value: object) =>
    add(name, Buffer.from(`${JSON.stringify(value, null, 1)}\n`));
  const introduced = addJson(INTRODUCTION, { format, program });
  introduced.catch(() => undefined); // reported by `add`
  return {
    bytes: Readable.from(tar, { objectMode: false }),
    async add(name, content) {
      await introduced;
      await add(name, content);
    },
    async finish(manifest) {
      await introduced;
      await addJson(MANIFEST, manifest);
      await write(SUMS, Buffer.from(sums.join('')));
      tar.finalize();
    },
    destroy: (error) => void tar.destroy(error),
  };
}

/** The name of a part of a table. `number` counts from 0. */
export const partName = (table: string, number: number, ending: string) =>
  `tables/${table}/${String(number).padStart(6, '0')}.copy.${ending}`;

/** The table and number of a part, or null for another entry. */
export function partOf(name: string): { table: string; number: number } | null {
  const [, table, number] = /^tables\/([a-z0-9_]+)\/(\d{6,})\.copy\.(?:gz|zst)$/.exec(name) ?? [];
  return table === undefined ? null : { table, number: Number(number) };
}

/**
 * Reads a file once, passing each entry to `take`, which must read it to its end. Throws BackupError if the file is not a
 * tar file.
 */
export async function readArchive(
  file: string,
  key: Key,
  take: (name: string, content: Readable) => Promise<void>,
): Promise<void> {
  const head = await readHead(file);
  const isTar = head.toString('latin1', 257, 262) === 'ustar';
  if (!isLocked(head) && !isTar) throw notOurs(file);
  const stored = createReadStream(file, { highWaterMark: 256 * 1024 });
  const plain = isLocked(head) ? await unlock(file, stored, key) : stored;
  const entries = extract();
  // the extractor is a separate iterator; a failure of the source must end it
  plain.on('error', (error: Error) => entries.destroy(error));
  plain.pipe(entries);
  try {
    for await (const entry of entries) {
      const { name } = entry.header;
      await take(name, Readable.from(entry));
    }
  } catch (error) {
    if (error instanceof BackupError || isOfSystem(error)) throw error;
    throw new BackupError(
      `${file} is cut off or was altered (${(error as Error).message}): use another backup`,
    );
  } finally {
    plain.destroy();
    stored.destroy();
  }
}

/** An error that says nothing about the file's content: of the disk, or of PostgreSQL. */
const isOfSystem = (error: unknown) => {
  const { code, syscall, severity } = error as { code?: string; syscall?: string; severity?: string };
  return syscall !== undefined || severity !== undefined || /^(ECONN|EPIPE)/.test(code ?? '');
};

/**
 * Reads the whole file and compares every part with its hash, before anything else uses the file. Throws BackupError if
 * it is cut off, was altered, was made by a newer program or needs another key.
 */
export async function checkArchive(file: string, key: Key): Promise<Manifest> {
  const found = new Map<string, string>();
  const texts = new Map<string, string>();
  await readArchive(file, key, async (name, content) => {
    if (found.size === 0 && name !== INTRODUCTION) throw notOurs(file);
    if (found.has(name) || texts.has(SUMS))
      throw new BackupError(`${file} has ${name} twice: use another backup`);
    const hash = createHash('sha256');
    if (partOf(name)) for await (const chunk of content) hash.update(chunk);
    else {
      const bytes = await whole(file, content);
      hash.update(bytes);
      texts.set(name, bytes.toString('utf8'));
    }
    found.set(name, hash.digest('hex'));
    if (name === INTRODUCTION) readIntroduction(file, texts.get(name) ?? '');
  });
  const sums = texts.get(SUMS);
  const written = texts.get(MANIFEST);
  if (sums === undefined || written === undefined) {
    throw new BackupError(`${file} is cut off: use another backup`);
  }
  found.delete(SUMS);
  compareSums(file, sums, found);
  const manifest = readManifest(file, written);
  const parts = new Map<string, number>();
  for (const name of found.keys()) {
    const part = partOf(name);
    if (part) parts.set(part.table, (parts.get(part.table) ?? 0) + 1);
  }
  for (const table of manifest.tables) {
    if ((parts.get(table.name) ?? 0) === table.parts) continue;
    throw new BackupError(`${file} lacks parts of the table ${table.name}: use another backup`);
  }
  return manifest;
}

function compareSums(file: string, sums: string, found: ReadonlyMap<string, string>): void {
  const expected = new Map(sums.split('\n').map((line) => [line.slice(66), line.slice(0, 64)] as const));
  expected.delete('');
  for (const [name, hash] of found) {
    if (expected.get(name) !== hash)
      throw new BackupError(`${file}: ${name} was altered: use another backup`);
  }
  for (const name of expected.keys()) {
    if (!found.has(name)) throw new BackupError(`${file}: ${name} is missing: use another backup`);
  }
}

async function whole(file: string, content: Readable): Promise<Buffer> {
  let size = 0;
  content.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > LARGEST_TEXT) content.destroy(notOurs(file));
  });
  return buffer(content);
}

async function readHead(file: string): Promise<Buffer> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(error.code === 'ENOENT' ? `there is no file ${file}` : `${file}: ${error.message}`);
  });
  try {
    const head = Buffer.alloc(Math.max(512, MAGIC_BYTES));
    const { bytesRead } = await handle.read(head);
    if (bytesRead === 0) throw new BackupError(`${file} is empty: use another backup`);
    return head;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') {
      throw new BackupError(`${file} is a folder: name a file in it`);
    }
    throw error;
  } finally {
    await handle.close();
  }
}
