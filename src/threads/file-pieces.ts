import { readSync } from 'node:fs';

/** An uploaded file, as shared with a thread of the same process. */
export interface SharedFile {
  readonly bytes: number;
  readonly descriptor: number;
}

/** The part of a file that can be shared with a thread. */
export const sharedFile = ({ bytes, descriptor }: SharedFile): SharedFile => ({ bytes, descriptor });

// Small enough that the strings a reader makes of a piece are collected early: larger ones wait for a full collection.
const PIECE_BYTES = 1 << 16;

/** The bytes of the file, piece by piece. Blocks its thread meanwhile. */
export function* piecesOf({ descriptor }: SharedFile): Generator<Buffer> {
  for (let position = 0; ; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const count = readSync(descriptor, piece, 0, PIECE_BYTES, position);
    if (count === 0) return;
    position += count;
    yield piece.subarray(0, count);
  }
}

/** The first bytes of the file, at most `count`. */
export function headOf({ descriptor }: SharedFile, count: number): Buffer {
  const head = Buffer.alloc(count);
  return head.subarray(0, readSync(descriptor, head, 0, count, 0));
}

/** All bytes of the file. */
export function bytesOf(file: SharedFile): Buffer {
  const all = Buffer.allocUnsafe(file.bytes);
  for (let at = 0; at < all.length; ) {
    const count = readSync(file.descriptor, all, at, all.length - at, at);
    if (count === 0) throw new Error('the file is shorter than before');
    at += count;
  }
  return all;
}
