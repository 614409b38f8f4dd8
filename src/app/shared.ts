/** Calls share one result, which is made again after `freshMs`, or at once if it failed. */
export function shared<Result>(freshMs: number, make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  let madeAt = 0;
  return () => {
    if (made === undefined || performance.now() - madeAt > freshMs) {
      madeAt = performance.now();
      made = make();
      made.catch(() => {
        made = undefined;
      });
    }
    return made;
  };
}
