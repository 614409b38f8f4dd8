import type { Span } from './time.ts';

/**
 * The names and milliseconds of the bucket lengths that sums are kept in, longest first; each divides the one before.
 */
export type Lengths = readonly (readonly [name: string, ms: number])[];

/** A part of a span that is covered by buckets of one length. */
export interface Piece extends Span {
  readonly length: string;
}

/** The last multiple of `length` that is not after `ms`, both in milliseconds. */
export const floorTo = (length: number, ms: number): number => Math.floor(ms / length) * length;

/**
 * Cuts a span into whole buckets of the first length, and the rest at both ends into those of the next ones, in order.
 * What is shorter than the last length is left out.
 */
export function cut({ from, until }: Span, [longest, ...shorter]: Lengths): Piece[] {
  if (from >= until || longest === undefined) return [];
  const [length, ms] = longest;
  const [first, last] = [-floorTo(ms, -from), floorTo(ms, until)];
  if (first >= last) return cut({ from, until }, shorter);
  return [
    ...cut({ from, until: first }, shorter),
    { length, from: first, until: last },
    ...cut({ from: last, until }, shorter),
  ];
}
