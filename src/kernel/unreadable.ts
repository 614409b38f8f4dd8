/** Why a file cannot be read, for people: `paid.csv: there is no such file`. */
export function unreadable(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return `${path}: there is no such file`;
  if (code === 'EACCES') return `${path}: no permission to read it`;
  if (code === 'EISDIR') return `${path} is a folder, not a file`;
  return `${path}: ${message}`;
}
