/**
 * Places for what is in progress at once, at most half of them for one owner, so that nobody takes them all. The returned
 * function takes a place, and returns what gives it back (call it once); null = none is free.
 */
export function createPlaces(most: number): (owner: string) => (() => void) | null {
  const taken = new Map<string, number>();
  const mostOfOne = Math.ceil(most / 2);
  let all = 0;
  return (owner) => {
    const own = taken.get(owner) ?? 0;
    if (own >= mostOfOne || all >= most) return null;
    taken.set(owner, own + 1);
    all += 1;
    return () => {
      all -= 1;
      const left = (taken.get(owner) ?? 1) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
    };
  };
}
