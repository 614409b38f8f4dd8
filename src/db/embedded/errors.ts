/** The embedded PostgreSQL cannot start; the message says what to do and is shown as it is. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
}
