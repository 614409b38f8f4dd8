import { Readable, Transform } from 'node:stream';

/** A CSV file to send: its text or bytes, or where they come from. */
export type Upload = string | Uint8Array | UploadSource;

/** A file that is read while it is sent, whatever its size. */
export interface UploadSource {
  /** Its size; undefined when it is not known before the end. */
  readonly bytes?: number | undefined;
  /** Whether `open` gives the same bytes again, so that a failed attempt can be repeated. */
  readonly repeatable: boolean;
  open(): Readable;
  /** Told the bytes sent so far; starts at 0 again when an attempt is repeated. */
  onProgress?(sent: number): void;
}

/** The file as a source. */
export function sourceOf(upload: Upload): UploadSource {
  if (typeof upload === 'object' && 'open' in upload) return upload;
  const bytes = Buffer.from(upload as string | Uint8Array);
  return { bytes: bytes.length, repeatable: true, open: () => Readable.from([bytes]) };
}

/** Opens a source; what is read of it is told. */
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
