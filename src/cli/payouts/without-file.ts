import { CommandError } from '../command/errors.ts';
import { amounts, count } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import type { ListedEntry } from './paid-list.ts';

/** A line, and whether a file pays it. */
interface FiledLine {
  readonly affiliate_id: number;
  readonly name: string | null;
  readonly currency: string;
  readonly amount: number;
  readonly is_in_file: boolean;
}

/** At most this many lines are named. */
const MOST_NAMED = 10;

/** Throws CommandError if --all-paid includes lines that are in no payment file. */
export function refuseWithoutFile(entries: readonly ListedEntry[], lines: readonly FiledLine[]): void {
  const key = (line: { affiliate_id: number; currency?: string | undefined }) =>
    `${line.affiliate_id} ${line.currency}`;
  const listed = new Set(entries.filter(({ is_paid, where }) => is_paid && where === '--all-paid').map(key));
  const found = lines.filter((line) => !line.is_in_file && listed.has(key(line)));
  if (found.length === 0) return;
  const names = found
    .slice(0, MOST_NAMED)
    .map(({ affiliate_id: id, name }) => (name === null ? `${id}` : `${id} (${printable(name)})`));
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : '';
  throw new CommandError(
    `--all-paid: ${count(found.length, 'payment')} in no downloaded payment file, ${amounts(sumsOf(found))}: affiliates ` +
      `${names.join(', ')}${more}. Name them with --unpaid, or add --also-without-file if they were paid by other means; ` +
      'nothing was changed',
    { code: 'bad_request', reason: 'lines_without_file' },
  );
}

function sumsOf(lines: readonly FiledLine[]) {
  const sums = new Map<string, number>();
  for (const { currency, amount } of lines) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  return [...sums].map(([currency, amount]) => ({ currency, amount }));
}
