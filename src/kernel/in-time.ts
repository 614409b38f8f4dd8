/** The result of `work`, or of `late` if it takes longer than `ms` milliseconds; it then continues, and its result is ignored. */
export async function inTime<Result>(ms: number, work: Promise<Result>, late: () => Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<Result>((resolve) => {
    timer = setTimeout(() => resolve(late()), Math.max(0, ms));
  });
  return Promise.race([work, ended]).finally(() => clearTimeout(timer));
}
