import { readSync } from 'node:fs';

/** A file that a request brought, as a thread of the same process is given it. */
export interface SharedFile {
  readonly bytes: number;
  readonly descriptor: number;
}

/** What of a file a thread can be given. */
export const sharedFile = ({ bytes, descriptor }: SharedFile): SharedFile => ({ bytes, descriptor });

// Small enough that what a reader makes of a piece is collected early: larger strings wait for a full collection.
const PIECE_BYTES = 1 << 16;

/** The bytes of the file, piece by piece. Nothing else of its thread runs meanwhile. */
export function* piecesOf({ descriptor }: SharedFile): Generator<Buffer> {
  for (let position = 0; ; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const count = readSync(descriptor, piece, 0, PIECE_BYTES, position);
    if (count === 0) return;
    position += count;
    yield piece.subarray(0, count);
  }
}

/** All bytes of the file. */
export function bytesOf(file: SharedFile): Buffer {
  const all = Buffer.allocUnsafe(file.bytes);
  for (let at = 0; at < all.length; ) {
    const count = readSync(file.descriptor, all, at, all.length - at, at);
    if (count === 0) throw new Error('the file is shorter than it was');
    at += count;
  }
  return all;
}
