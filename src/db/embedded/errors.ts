/** A start of the embedded PostgreSQL that cannot go on; the message says what to do and is shown as it is. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
}
