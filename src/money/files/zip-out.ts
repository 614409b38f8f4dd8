import { type PassThrough, Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A file of an archive. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
  /** When it was written last, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * The bytes of a zip archive (APPNOTE 6.3). The next file is asked for when the previous one was read, so memory has two files and what the
 * directory at the end says of each. An error of `entries` aborts the stream; when the stream is closed, `entries` is ended.
 */
export function zipOut(entries: AsyncIterable<ZipEntry>): Readable {
  const zip = new ZipFile();
  const out = zip.outputStream as PassThrough;
  const closing = new AbortController();
  out.once('close', () => closing.abort());
  fill(zip, entries, closing.signal).catch((error) => out.destroy(error));
  return out;
}

async function fill(zip: ZipFile, entries: AsyncIterable<ZipEntry>, signal: AbortSignal): Promise<void> {
  for await (const { name, content, at } of entries) {
    let source: Readable | null = Readable.from(content);
    const isRead = finished(source, { signal });
    zip.addReadStreamLazy(name, { mtime: new Date(at) }, (take) => {
      take(null, source as Readable);
      source = null; // the archive keeps this function, and memory must not keep the file
    });
    await isRead;
  }
  zip.end();
}
