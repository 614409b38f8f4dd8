import { createHash } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Upload } from '../contract/route.ts';
import { fail } from '../kernel/errors.ts';
import type { AccountId } from '../kernel/ids.ts';

// Small enough that what a reader makes of a piece dies young: larger strings wait for a full collection.
const READ_BYTES = 1 << 16;

export interface SpooledUpload extends Upload {
  close(): Promise<void>;
}

/** Lets a file of an account (UUID) in; the function it returns is called when the file is gone. */
export type UploadGate = (account: AccountId) => () => void;

/**
 * Lets so many files in at once, and no more than half of them for one account: each may fill the disk. Entering throws
 * `too_many_uploads`.
 */
export function uploadGate(most: number): UploadGate {
  const open = new Map<string, number>();
  const mostOfOne = Math.ceil(most / 2);
  return (account) => {
    const own = open.get(account) ?? 0;
    const all = [...open.values()].reduce((sum, count) => sum + count, 0);
    if (own >= mostOfOne || all >= most) {
      throw fail(
        'too_many_uploads',
        'other files are being imported: send this one again when they are done',
        {
          'retry-after': '10',
        },
      );
    }
    open.set(account, own + 1);
    return () => {
      const left = (open.get(account) ?? 1) - 1;
      if (left > 0) open.set(account, left);
      else open.delete(account);
    };
  };
}

interface Spooling {
  readonly body: Readable;
  /** Bytes. */
  readonly limit: number;
  /** Of the file, while it has one. */
  readonly name: string;
  /** Is told how to give up because the body comes too slowly. */
  onSlow(refuse: (error: Error) => void): void;
}

/**
 * Writes a request body to a file that has no name any more, so that nothing is left after a crash, and hashes it
 * on the way. Throws `body_too_large` above `limit` bytes, and what `onSlow` was given. A body that is refused is left
 * open, so that its connection can still carry the answer.
 */
export async function spool({ body, limit, name, onSlow }: Spooling): Promise<SpooledUpload> {
  const path = join(tmpdir(), `payhook-upload-${name}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    let giveUp: (error: Error) => void = () => undefined;
    onSlow((error) => giveUp(error));
    const chunks: AsyncIterator<Buffer> = body.iterator({ destroyOnReturn: false });
    for (;;) {
      const { done, value } = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        giveUp = reject;
        chunks.next().then(resolve, reject);
      });
      if (done) break;
      bytes += value.length;
      if (bytes > limit) throw fail('body_too_large', `the file is larger than ${limit} bytes`);
      hash.update(value);
      await handle.appendFile(value);
    }
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
