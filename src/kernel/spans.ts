import type { Span } from './time.ts';

/** Names and milliseconds of the lengths that sums over time are kept in, the longest first; each divides the one before. */
export type Lengths = readonly (readonly [name: string, ms: number])[];

/** A part of a span that sums of one length make up. */
export interface Piece extends Span {
  readonly length: string;
}

/** The last multiple of `length` that is not after `ms`, both in milliseconds. */
export const floorTo = (length: number, ms: number): number => Math.floor(ms / length) * length;

/**
 * Cuts a span into whole ones of the first length, and what is left at its ends into those of the next, in order. What is
 * shorter than the last length is left out.
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
