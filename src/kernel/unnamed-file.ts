import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens an empty file without a name, so that nothing is left after a crash. `name` is what it is called while it has one. */
export async function openUnnamedFile(name: string): Promise<FileHandle> {
  const path = join(tmpdir(), `payhook-${name}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}
