import { createWriteStream, mkdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { onInterrupt } from '../terminal/interrupt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError, UsageError } from './errors.ts';

/** Where a command writes its file. */
export interface OutputOptions {
  readonly output?: string;
  readonly force?: boolean;
}

/** The default folder of files: names, addresses and amounts do not belong in a source folder. */
const EXPORTS = 'exports';

/** The default path of a file, in a folder that only its owner can read. */
export function inExports(name: string): string {
  return join(EXPORTS, basename(name));
}

/** Adds the options of a command that writes a file. */
export function withOutput(command: Command, usual: string): Command {
  return command
    .option('-o, --output <file>', `the file to write; - is standard output (default: ${inExports(usual)})`)
    .option('-f, --force', 'overwrite an existing file');
}

/** Throws UsageError or CommandError for an impossible output, before any request to the server. */
export function checkOutput({ output, force }: OutputOptions, { json }: Terminal): void {
  if (output === undefined) return;
  if (output !== '-') refuseExisting(output, force);
  else if (json) throw new UsageError('--json and --output - both write to standard output');
  else if (force) throw new UsageError('--force has no effect with --output -: no file is written');
}

/** Writes a file to standard output. */
export function pipeOut(stream: AsyncIterable<Uint8Array>): Promise<void> {
  return pipeline(stream, process.stdout, { end: false });
}

/**
 * Writes a file from the server to the output of the options, by default under its own name in the folder of exports.
 * Returns its path and its size in bytes; null for standard output.
 */
export async function saveReceived(
  terminal: Terminal,
  options: OutputOptions,
  get: () => Promise<{ readonly name: string | null; readonly stream: AsyncIterable<Uint8Array> }>,
): Promise<{ file: string; bytes: number } | null> {
  if (options.output === '-') {
    await pipeOut((await get()).stream);
    return null;
  }
  return showReceived(terminal, (receive) =>
    writeFiles(options, async (files) => {
      const { name, stream } = await get();
      const file = options.output ?? inExports(name ?? 'download.csv');
      return { file, bytes: await files.write(file, receive(file, stream)) };
    }),
  );
}

/** Files that are written together. */
export interface FileSet {
  /** Writes a temporary file next to its final path. Returns its size in bytes. */
  write(file: string, content: AsyncIterable<Uint8Array> | Iterable<string>): Promise<number>;
}

interface Staged {
  readonly file: string;
  readonly partial: string;
}

/**
 * Runs `work`, and then moves all its files into place, or none. Only their owner can read them. Throws CommandError for an
 * existing file, unless `force`.
 */
export async function writeFiles<Result>(
  { force = false }: OutputOptions,
  work: (files: FileSet) => Promise<Result>,
): Promise<Result> {
  const staged: Staged[] = [];
  let isFolderNew = false;
  const remove = () => {
    for (const { partial } of staged) rmSync(partial, { force: true });
    if (isFolderNew) removeEmpty(EXPORTS);
  };
  const forget = onInterrupt(remove);
  try {
    const result = await work({
      write(file, content) {
        refuseExisting(file, force);
        if (staged.some((other) => resolve(other.file) === resolve(file))) {
          throw new UsageError(`two files cannot have the same name: ${file}`);
        }
        if (dirname(file) === EXPORTS) isFolderNew ||= makeFolder(EXPORTS);
        const partial = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
        staged.push({ file, partial });
        return writeWhole(partial, content).catch((error: unknown) => {
          throw explain(file, error);
        });
      },
    });
    for (const { file } of staged) refuseExisting(file, force);
    place(staged);
    return result;
  } finally {
    forget();
    remove();
  }
}

/** Creates a folder that only its owner can read. Returns whether it was missing. */
function makeFolder(folder: string): boolean {
  return mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  }
}

/** Throws CommandError if a file exists and may not be overwritten, or is not a regular file. */
export function refuseExisting(file: string, force = false): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) {
    throw new CommandError(
      `${file} is ${found.isDirectory() ? 'a folder' : 'not a regular file'}: give a file name`,
    );
  }
  if (!force) {
    throw new CommandError(`${file} exists: add --force to overwrite it, or choose another name`);
  }
}

async function writeWhole(
  partial: string,
  content: AsyncIterable<Uint8Array> | Iterable<string>,
): Promise<number> {
  // names, addresses and amounts: readable by the owner only
  const target = createWriteStream(partial, { mode: 0o600, flags: 'wx', flush: true });
  // if the source fails while the file is being opened, the file would be created after its removal
  const closed = new Promise<void>((done) => target.once('close', done));
  await pipeline(content, target).finally(() => closed);
  return target.bytesWritten;
}

/** Reports a missing or closed folder by its own name instead of the temporary file in it. */
function explain(file: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new CommandError(`${dirname(file)} is not a folder`);
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new CommandError(`${dirname(file)}: no permission to write there`);
  }
  return error;
}

function place(staged: readonly Staged[]): void {
  const placed: string[] = [];
  try {
    for (const { file, partial } of staged) {
      renameSync(partial, file);
      placed.push(file);
    }
  } catch (error) {
    for (const file of placed) rmSync(file, { force: true });
    throw error;
  }
}

/** The name with a suffix before its extension: `paid.csv` -> `paid-part-2.csv`. */
export function markName(file: string, mark: string): string {
  const extension = extname(file);
  return `${file.slice(0, file.length - extension.length)}-${mark}${extension}`;
}

/** The bytes of a stream, while the terminal shows that `name` is being received. */
export type Receive = (name: string, stream: AsyncIterable<Uint8Array>) => AsyncIterable<Buffer>;

/** Runs `work`; if it takes longer than a second, shows what is being received and how much of it has arrived. */
export function showReceived<Result>(
  { spinner }: Terminal,
  work: (receive: Receive) => Promise<Result>,
): Promise<Result> {
  let label = 'waiting for the server';
  async function* counted(name: string, stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of stream) {
      bytes += piece.length;
      label = `${name}, ${(bytes / 1e6).toFixed(1)} MB`;
      yield Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    }
  }
  const done = work(counted);
  spinner.watch(
    done.then(
      () => undefined,
      () => undefined,
    ),
    () => label,
  );
  return done;
}
