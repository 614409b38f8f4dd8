import { ConnectionError } from './errors.ts';
import type { Answer } from './transport.ts';

/** A file being downloaded. Read the stream to its end or cancel it: until then it holds its connection. */
export interface Download {
  /** The file name from the server, without a folder. */
  readonly name: string | null;
  /** The revision of the payout in the file, for `ifMatch`; null if the file is not of one payout. */
  readonly revision: number | null;
  /** The number of affiliates that a payment file leaves out; null for other files. */
  readonly skipped: number | null;
  /** The number of affiliates whose amount exceeds the provider's limit for one payment; null for other files. */
  readonly aboveLimit: number | null;
  /** The file set (`pfs_…`) that a payment file belongs to; null for other files. */
  readonly fileSet: string | null;
  /** The previously downloaded file set that this one replaces; null = none. */
  readonly replacesFileSet: string | null;
  /** The number of affiliates who are also paid by another downloaded payment file that differs; null for other files. */
  readonly inOtherFiles: number | null;
  /**
   * The content. The stream fails with ConnectionError if it is cut off. If it ends without an error, it is complete.
   */
  readonly stream: ReadableStream<Uint8Array>;
}

/** The file in a response. */
export function downloadOf({ header, body }: Answer): Download {
  const name = /filename="([^"/\\]+)"/.exec(header('content-disposition') ?? '')?.[1] ?? null;
  return {
    name,
    revision: numberIn(header('etag'), /^"(\d+)"$/),
    skipped: numberIn(header('payhook-skipped-affiliates'), /^(\d+)$/),
    aboveLimit: numberIn(header('payhook-affiliates-above-limit'), /^(\d+)$/),
    fileSet: header('payhook-file-set'),
    replacesFileSet: header('payhook-replaces-file-set'),
    inOtherFiles: numberIn(header('payhook-affiliates-in-other-files'), /^(\d+)$/),
    stream: whole(body),
  };
}

/** A body that fails with ConnectionError if it is cut off. */
function whole(body: Answer['body']): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (cause) {
        const message = `the download was cut off: ${(cause as Error).message}`;
        controller.error(new ConnectionError(message, { cause, outcome: 'not_done' }));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function numberIn(text: string | null, pattern: RegExp): number | null {
  const digits = pattern.exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}
