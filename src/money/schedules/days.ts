const DAY_MS = 86_400_000;

/**
 * When a schedule is due: `week` on day 1 (Monday) to 7, `month` on day 1 to 31, or on the last day of a shorter month.
 */
export interface Rhythm {
  readonly every: 'week' | 'month';
  readonly day: number;
}

/** The first due day after a day; both are `YYYY-MM-DD`. */
export function nextDay({ every, day }: Rhythm, after: string): string {
  const from = Date.parse(`${after}T00:00:00Z`);
  if (every === 'week') {
    const weekday = new Date(from).getUTCDay() || 7;
    return textOf(from + (((day - weekday + 6) % 7) + 1) * DAY_MS);
  }
  const date = new Date(from);
  const inMonth = (months: number) => dueIn(date.getUTCFullYear(), date.getUTCMonth() + months, day);
  const here = inMonth(0);
  return textOf(here > from ? here : inMonth(1));
}

/** The given day of a month, or its last day. Months count from 0 and may exceed 11. */
function dueIn(year: number, month: number, day: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(day, last));
}

const textOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
