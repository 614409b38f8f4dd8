import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { BackupError } from './errors.ts';
import type { Manifest } from './manifest.ts';

/** Node has zstd since 22.15. Its types here are of the oldest supported version. */
const zstd = zlib as unknown as {
  zstdCompress?: (bytes: Buffer, done: (error: Error | null, result: Buffer) => void) => void;
  createZstdDecompress?: () => Transform;
};

export type Compression = Manifest['compression'];
const ENDINGS: Readonly<Record<Compression, string>> = { gzip: 'gz', zstd: 'zst' };
/** Rows as text shrink to a quarter or a tenth. Higher levels take twice the time for 10 % less. */
const GZIP_LEVEL = 4;

export const bestCompression = (): Compression => (zstd.zstdCompress ? 'zstd' : 'gzip');
export const endingOf = (compression: Compression) => ENDINGS[compression];

const gzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);

export function compress(bytes: Buffer, compression: Compression): Promise<Buffer> {
  if (compression === 'gzip') return gzip(bytes, { level: GZIP_LEVEL });
  return new Promise((resolve, reject) =>
    zstd.zstdCompress?.(bytes, (error, result) => (error ? reject(error) : resolve(result))),
  );
}

/** Throws BackupError if this Node cannot read the compression. */
export function decompressor(compression: Compression): Transform {
  if (compression === 'gzip') return zlib.createGunzip();
  if (zstd.createZstdDecompress) return zstd.createZstdDecompress();
  throw new BackupError('the backup is compressed with zstd: run this command with Node 22.15 or newer');
}
