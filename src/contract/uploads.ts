/**
 * An uploaded file, complete on this machine before the transaction begins, so that a slow client holds no connection.
 */
export interface Upload {
  readonly bytes: number;
  /** SHA-256 of the bytes, compared for an Idempotency-Key. */
  readonly digest: Buffer;
  /**
   * The file descriptor in this process, for positioned reads. The file has no name, and is closed after the response.
   */
  readonly descriptor: number;
}

/** The type of a file: CSV, or detected from its bytes. */
export type UploadType = 'text/csv' | 'application/octet-stream';
