/** An uploaded file, whole on this machine before the transaction begins, so that a slow client holds no connection. */
export interface Upload {
  readonly bytes: number;
  /** SHA-256 of the bytes, which an Idempotency-Key is compared by. */
  readonly digest: Buffer;
  /** The number of the open file in this process, for reading at a position. It has no name, and is closed after the answer. */
  readonly descriptor: number;
}

/** The type of a file: a CSV file, or one whose kind its bytes tell. */
export type UploadType = 'text/csv' | 'application/octet-stream';
