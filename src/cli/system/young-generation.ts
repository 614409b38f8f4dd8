import { setFlagsFromString } from 'node:v8';

/** What V8 does by itself: the room of young objects is doubled when many survive. */
const USUAL_GROWTH = 2;

/**
 * Keeps the room of young objects at its first size while the program is read, nearly all of which survives: V8 would make
 * that room 16 MB, and an idle server would keep it. Call what is returned before there is work.
 */
export function keepYoungGenerationSmall(): () => void {
  grow(1);
  return () => grow(USUAL_GROWTH);
}

const grow = (factor: number) => setFlagsFromString(`--semi-space-growth-factor=${factor}`);
