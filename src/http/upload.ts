import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fail } from '../kernel/errors.ts';
import type { Upload } from './route.ts';

export interface SpooledUpload extends Upload {
  /** SHA-256 of the bytes: what an Idempotency-Key is compared by. */
  readonly digest: Buffer;
  close(): Promise<void>;
}

/**
 * Writes a request body to a file that has no name any more, so that nothing is left after a crash, and hashes it
 * on the way. Throws `body_too_large` above `limit` bytes.
 */
export async function spool(body: Readable, limit: number, name: string): Promise<SpooledUpload> {
  const path = join(tmpdir(), `payhook-upload-${name}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await pipeline(
      body,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > limit) throw fail('body_too_large', `the file is larger than ${limit} bytes`);
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream('', { fd: handle.fd, autoClose: false }),
    );
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    bytes,
    digest: hash.digest(),
    open: () => createReadStream('', { fd: handle.fd, autoClose: false, start: 0, highWaterMark: 1 << 18 }),
    close: () => handle.close(),
  };
}
