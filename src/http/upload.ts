import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Upload } from '../contract/uploads.ts';
import { fail } from '../kernel/errors.ts';
import type { AccountId } from '../kernel/ids.ts';
import { createPlaces } from '../kernel/places.ts';
import { openUnnamedFile } from '../kernel/unnamed-file.ts';

export interface SpooledUpload extends Upload {
  close(): Promise<void>;
}

/** Admits a file of an account (UUID). Returns a function to call when the file is closed. */
export type UploadGate = (account: AccountId) => () => void;

/**
 * Admits a limited number of concurrent files, and at most half of them for one account, because each may fill the disk.
 * Throws `too_many_uploads`.
 */
export function uploadGate(most: number): UploadGate {
  const take = createPlaces(most);
  return (account) => {
    const leave = take(account);
    if (leave !== null) return leave;
    throw fail('too_many_uploads', 'other files are being imported: send this one again when they are done', {
      'retry-after': '10',
    });
  };
}

interface Spooling {
  readonly body: Readable;
  /** The maximum size in bytes. */
  readonly limit: number;
  /** The name of the file while it has one. */
  readonly name: string;
  /** Receives a function that aborts, for a body that arrives too slowly. */
  onSlow(refuse: (error: Error) => void): void;
}

/**
 * Writes a request body to an unlinked file, so that nothing is left after a crash, and hashes it meanwhile. Throws
 * `body_too_large` above `limit` bytes, and the error passed to the function that `onSlow` got. A refused body stays
 * open, so that its connection can still carry the response.
 */
export async function spool({ body, limit, name, onSlow }: Spooling): Promise<SpooledUpload> {
  const handle = await openUnnamedFile(`upload-${name}`);
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
    descriptor: handle.fd,
    close: () => handle.close(),
  };
}
