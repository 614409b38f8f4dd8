/** The numbers of cells in a text such as `1,4-7`; undefined if it is none. */
export function cellNumbers(text: string): readonly number[] | undefined {
  const ranges = text.split(',').map((part) => {
    const [, from = '', to = from] = /^\s*([1-9]\d{0,3})(?:-([1-9]\d{0,3}))?\s*$/.exec(part) ?? [];
    return Array.from(
      { length: Math.max(0, Number(to) - Number(from) + 1) },
      (_, step) => Number(from) + step,
    );
  });
  return ranges.some(([first = 0]) => first === 0) ? undefined : ranges.flat();
}
