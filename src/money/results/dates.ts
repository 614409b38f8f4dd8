import { dayIn } from './answers.ts';

/** The order of day and month in dates such as `09/30/2026`; null = unknown. */
type Order = 'day first' | 'month first' | null;

const PARTS = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})\b/;

/**
 * The order that the dates of a file show: PayPal uses the order of the account's country. Null if none shows it, or if
 * they disagree.
 */
function orderOf(dates: readonly string[]): Order {
  let [isDayFirst, isMonthFirst] = [false, false];
  for (const date of dates) {
    const [, first, second] = PARTS.exec(date) ?? [];
    if (Number(first) > 12) isDayFirst = true;
    if (Number(second) > 12) isMonthFirst = true;
  }
  return isDayFirst === isMonthFirst ? null : isDayFirst ? 'day first' : 'month first';
}

/** `YYYY-MM-DD` for a date with slashes, points or hyphens in this order, or null if invalid. */
function dayOf(date: string, order: Order): string | null {
  const [, first = '', second = '', year = ''] = PARTS.exec(date) ?? [];
  if (year === '' || order === null) return null;
  const [day, month] = order === 'day first' ? [first, second] : [second, first];
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1 || Number(day) > 31) return null;
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** The dates of a file as `YYYY-MM-DD`; null for a date that is ambiguous or unreadable. */
export function daysOf(dates: readonly string[], known: Order = null): (string | null)[] {
  const order = known ?? orderOf(dates);
  return dates.map((date) => dayIn(date) ?? dayOf(date, order));
}
