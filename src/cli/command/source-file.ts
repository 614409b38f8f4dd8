import { accessSync, constants, createReadStream, readFileSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { UploadSource } from '../../client/client.ts';
import { unreadable } from '../../kernel/unreadable.ts';
import { CommandError } from './errors.ts';

/** A file to read; `-` is standard input. Throws CommandError if it cannot be read. */
export function openSource(path: string): UploadSource {
  if (path === '-') return { bytes: undefined, repeatable: false, open: () => process.stdin };
  const about = lookAt(path);
  if (about.isDirectory()) throw new CommandError(`${path} is a folder, not a file`);
  // A pipe, such as <(…) in a shell, can only be read once and has no size.
  if (!about.isFile()) return { bytes: undefined, repeatable: false, open: () => createReadStream(path) };
  if (about.size === 0) throw new CommandError(`${path} is empty: its first line must name the columns`);
  // `end`: bytes appended while reading would exceed the announced length
  const open = () => createReadStream(path, { end: about.size - 1 });
  return { bytes: about.size, repeatable: true, open };
}

/** The text of a file, without a byte order mark; `-` is standard input. Throws CommandError if it cannot be read. */
export async function readText(path: string): Promise<string> {
  const read = path === '-' ? await text(process.stdin) : fileText(path);
  return read.replace(/^\uFEFF/, '');
}

function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError(unreadable(path, error));
  }
}

function lookAt(path: string) {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path);
  } catch (error) {
    throw new CommandError(unreadable(path, error));
  }
}
