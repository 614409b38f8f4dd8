import type { WireRequest } from './connections.ts';

/** A file to upload, such as CSV: its text or bytes, a `Blob` or `File`, or a source of bytes. */
export type Upload = string | Uint8Array | Blob | UploadSource;

/** A file that is streamed, so it can be of any size. Browsers cannot send one over HTTP/1: give them a `File`. */
export interface UploadSource {
  /** Its size in bytes; undefined if unknown. */
  readonly bytes?: number | undefined;
  /** Whether `open` returns the same bytes again, so that a failed attempt can be repeated. */
  readonly repeatable: boolean;
  /** A stream of Node or of the web, or another sequence of chunks. */
  open(): AsyncIterable<Uint8Array>;
  /** Called with the number of bytes sent so far; starts at 0 again for a retry. */
  onProgress?(sent: number): void;
}

const isSource = (upload: Upload): upload is UploadSource => typeof upload === 'object' && 'open' in upload;

/** Whether a file can be sent again. */
export const isRepeatable = (upload: Upload | undefined) =>
  upload === undefined || !isSource(upload) || upload.repeatable;

/** The body that sends a file. */
export function bodyOf(upload: Upload): WireRequest['body'] {
  return isSource(upload) ? { bytes: upload.bytes, chunks: counted(upload) } : upload;
}

/** The chunks of a source, which is opened now; reports progress as they are read. */
async function* counted(source: UploadSource): AsyncGenerator<Uint8Array> {
  let sent = 0;
  source.onProgress?.(0);
  for await (const chunk of source.open()) {
    sent += chunk.length;
    source.onProgress?.(sent);
    yield chunk;
  }
}
