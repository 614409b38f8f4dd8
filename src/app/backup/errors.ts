/** A backup that cannot be made or restored; the message says what to do. */
export class BackupError extends Error {
  override name = 'BackupError';
}
