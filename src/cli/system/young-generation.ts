import { setFlagsFromString } from 'node:v8';

/** V8's default: it doubles the young generation when many objects survive. */
const USUAL_GROWTH = 2;

/**
 * Stops V8 growing the young generation while modules load: nearly everything survives, so V8 would grow it to 16 MB, and
 * an idle server would keep that. Call the returned function before the server takes work.
 */
export function keepYoungGenerationSmall(): () => void {
  grow(1);
  return () => grow(USUAL_GROWTH);
}

const grow = (factor: number) => setFlagsFromString(`--semi-space-growth-factor=${factor}`);
