const WORDS = new Set(
  (
    'total totals sum summe gesamt gesamtsumme gesamtbetrag endsumme zwischensumme subtotal totale somma totaal suma ' +
    'razem totaux montanttotal totalgeneral grandtotal soma'
  ).split(' '),
);
const LONGEST = 40;

/** Whether a cell names a total: `Total`, `Grand total:`, `Summe (EUR)`. */
function namesTotal(cell: string): boolean {
  if (cell.length > LONGEST || /[@\d]/.test(cell)) return false;
  const words = cell.toLowerCase().match(/\p{L}+/gu) ?? [];
  return WORDS.has(words[0] ?? '') || WORDS.has(words.slice(0, 2).join(''));
}

const NUMBER = /^[^\p{L}]*\d[^\p{L}]*(?:\p{L}{3})?$/u;

/**
 * Whether a line of a file is a sum of the others: nothing in it says whom or what it is about (the cells at
 * `identifying` are empty, or name a total), and it has the name of a total or nothing but numbers.
 */
export function isTotalsLine(cells: readonly string[], identifying: readonly number[]): boolean {
  if (identifying.length === 0) return false;
  for (const index of identifying) {
    const cell = cells[index] ?? '';
    if (cell !== '' && !namesTotal(cell)) return false;
  }
  const filled = cells.filter((cell) => cell !== '');
  if (filled.some(namesTotal)) return true;
  return filled.length > 0 && filled.every((cell) => cell.length <= LONGEST && NUMBER.test(cell));
}
