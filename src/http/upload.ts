import { createHash } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fail } from '../kernel/errors.ts';
import type { Upload } from './route.ts';

// Small enough that what a reader makes of a piece dies young: larger strings wait for a full collection.
const READ_BYTES = 1 << 16;

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
    await pipeline(body, async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > limit) throw fail('body_too_large', `the file is larger than ${limit} bytes`);
        hash.update(chunk);
        await handle.appendFile(chunk);
      }
    });
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    bytes,
    digest: hash.digest(),
    open: () => Readable.from(contents(handle), { objectMode: false }),
    close: () => handle.close(),
  };
}

// No stream of node:fs: destroyed early, it would close the file's descriptor behind the handle's back.
async function* contents(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
