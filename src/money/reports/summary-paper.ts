import { readNow } from '../../db/clock.ts';
import type { Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import { formatDecimal } from '../../kernel/money.ts';
import { grouped, type Paper, type Table } from '../../papers/paper.ts';
import { getAccount } from '../../people/accounts/service.ts';
import { inWords } from './period.ts';
import { fileName, readSummary, type Summary, type SummaryInput } from './summary.ts';
import { FIGURE_NAMES, type Figure } from './summary-record.ts';
import type { Group } from './summary-store.ts';

/** The maximum number of rows in a document. CSV has no limit. */
const MOST_ROWS = 1000;

const TITLES: Readonly<Record<Figure, string>> = {
  opening: 'Owed before',
  earned: 'Earned',
  adjusted: 'Adjusted',
  refunded: 'Refunded',
  voided: 'Voided',
  paid: 'Paid',
  returned: 'Returned',
  closing: 'Owed after',
};
/** Columns that are left out where all amounts are zero. */
const RARE: ReadonlySet<Figure> = new Set(['adjusted', 'voided', 'returned']);

/**
 * A summary as a document, and the name of its file: a table for each currency, with its total. `db` is a snapshot. Throws
 * `invalid_query`, also for more rows than a document takes, and `amount_too_large`.
 */
export async function draftSummary(
  db: Reader,
  account: AccountId,
  input: SummaryInput,
): Promise<{ paper: Paper; name: string }> {
  const summary = await readSummary(db, account, input, { offset: 0, limit: MOST_ROWS + 1 });
  if (summary.groups.length > MOST_ROWS) {
    throw fail(
      'invalid_query',
      `format: the report has more than ${MOST_ROWS} rows, too many for a document: choose csv`,
    );
  }
  const { name: merchant } = fromJson(await getAccount(db, account));
  const { by, period, zone, totals } = summary;
  const at = await readNow(db);
  const paper: Paper = {
    title: `Report by ${by}`,
    name: `Report by ${by} of ${merchant}, ${inWords(period)}`,
    at,
    parties: [{ label: 'Account', name: merchant, lines: [] }],
    facts: [
      ['Period', `${inWords(period)}, days of ${zone}`],
      ['Made', `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ],
    tables: totals.map((total) => tableOf(summary, total)),
    notes: totals.length === 0 ? ['Nothing was earned, paid or owed.'] : [],
  };
  return { paper, name: fileName(summary) };
}

function tableOf({ by, groups }: Summary, total: Group): Table {
  const { currency } = total;
  const own = groups.filter((group) => group.currency === currency);
  const shown = FIGURE_NAMES.filter(
    (figure) =>
      own.some((group) => group[figure] !== null) &&
      (!RARE.has(figure) || own.some((group) => group[figure] !== 0n)),
  );
  const cells = (group: Group) =>
    shown.map((figure) => {
      const amount = group[figure];
      return amount === null ? '' : grouped(formatDecimal(amount, currency));
    });
  const rows = own.map((group) => ({ cells: [labelOf(group), ...cells(group)] }));
  return {
    title: currency.toUpperCase(),
    columns: [
      { title: by === 'currency' ? 'Currency' : (TITLE_OF[by] ?? by) },
      ...shown.map((figure) => ({ title: TITLES[figure], isFigure: true })),
    ],
    rows: by === 'currency' ? rows : [...rows, { cells: ['Total', ...cells(total)], isSum: true }],
  };
}

const TITLE_OF: Readonly<Record<string, string>> = {
  method: 'Method',
  program: 'Program',
  country: 'Country',
  affiliate: 'Affiliate',
};

const labelOf = ({ key, name, currency }: Group) =>
  key === currency ? currency.toUpperCase() : (name ?? key ?? 'none');
