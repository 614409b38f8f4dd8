import { Readable, Transform } from 'node:stream';

/** A file to upload, such as CSV: its text or bytes, or a source of them. */
export type Upload = string | Uint8Array | UploadSource;

/** A file that is streamed, so it can be of any size. */
export interface UploadSource {
  /** Its size in bytes; undefined if unknown. */
  readonly bytes?: number | undefined;
  /** Whether `open` returns the same bytes again, so that a failed attempt can be repeated. */
  readonly repeatable: boolean;
  open(): Readable;
  /** Called with the number of bytes sent so far; starts at 0 again for a retry. */
  onProgress?(sent: number): void;
}

/** Wraps an upload as a source. */
export function sourceOf(upload: Upload): UploadSource {
  if (typeof upload === 'object' && 'open' in upload) return upload;
  const bytes = Buffer.from(upload as string | Uint8Array);
  return { bytes: bytes.length, repeatable: true, open: () => Readable.from([bytes]) };
}

/** Opens a source and reports progress as it is read. */
export function openCounted(source: UploadSource): Readable {
  let sent = 0;
  source.onProgress?.(0);
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      source.onProgress?.(sent);
      done(null, chunk);
    },
  });
  const stream = source.open();
  stream.once('error', (error) => counter.destroy(error));
  counter.once('close', () => stream.destroy());
  return stream.pipe(counter);
}
