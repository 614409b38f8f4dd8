import { serverNow } from '../../data/server-time.ts';
import { DayField, Select } from '../../parts/field.tsx';
import { reports as texts } from '../../texts/reports.ts';
import type { PeriodSearch } from './views.tsx';

const OTHER_DAYS = 'days';
const DEFAULT = 'this_month';
/** The quarters to choose from: two years. */
const QUARTERS = 8;
const NAMES = Object.keys(texts.periods) as (keyof typeof texts.periods)[];

/** Chooses the period of a report: one by its name, or days. */
export function Period({
  value,
  shown,
  onChange,
}: {
  value: PeriodSearch;
  /** The days of the report on the screen, as a start for other days. */
  shown: PeriodSearch | undefined;
  onChange: (period: PeriodSearch) => void;
}) {
  const { period, from, to } = value;
  const isDays = period === undefined && (from !== undefined || to !== undefined);
  const chosen = isDays ? OTHER_DAYS : (period ?? DEFAULT);
  const quarters = lastQuarters().map((value) => ({ value, label: nameOf(value) }));
  const known = [
    ...NAMES.map((value) => ({ value: value as string, label: texts.periods[value] as string })),
    ...quarters,
  ];
  const options = [
    ...known,
    // from an address, such as a link
    ...(isDays || known.some((option) => option.value === chosen)
      ? []
      : [{ value: chosen, label: nameOf(chosen) }]),
    { value: OTHER_DAYS, label: texts.otherDays },
  ];
  return (
    <>
      <Select
        label={texts.period}
        value={chosen}
        options={options}
        onChange={(next) =>
          onChange(
            next === OTHER_DAYS
              ? { from: shown?.from, to: shown?.to }
              : { period: next === DEFAULT ? undefined : next },
          )
        }
      />
      {isDays && (
        <>
          <DayField label={texts.from} value={from} onChange={(day) => onChange({ from: day, to })} />
          <DayField label={texts.to} value={to} onChange={(day) => onChange({ from, to: day })} />
        </>
      )}
    </>
  );
}

/** The last quarters, newest first: `2026-Q3`. */
function lastQuarters(): string[] {
  const now = new Date(serverNow());
  const current = now.getUTCFullYear() * 4 + Math.floor(now.getUTCMonth() / 3);
  return Array.from({ length: QUARTERS }, (_, back) => {
    const quarter = current - back;
    return `${Math.floor(quarter / 4)}-Q${(quarter % 4) + 1}`;
  });
}

/** The name of a quarter; other periods, such as 2026-07, as they are written. */
function nameOf(period: string): string {
  const [, year, quarter] = /^(\d{4})-Q([1-4])$/i.exec(period) ?? [];
  return year === undefined || quarter === undefined ? period : texts.quarter(quarter, year);
}
