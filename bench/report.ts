import type { Result } from './measure.ts';

/** The result of a group. */
export interface Outcome {
  readonly name: string;
  readonly area: string;
  /** Of the whole group, including seeding and warm-up. */
  readonly seconds: number;
  /** Why it could not measure everything. */
  readonly error: string | null;
  readonly results: readonly Result[];
}

const HEADINGS = ['measure', 'figure', 'against', 'ratio', 'goal', 'verdict'] as const;

function verdict({ met }: Result): string {
  return met === null ? '–' : met ? 'ok' : 'MISSED';
}

const cells = (result: Result) => [
  `  ${result.measure}`,
  result.figure,
  result.against,
  result.ratio === null ? '–' : `${result.ratio.toFixed(2)} ×`,
  result.goal,
  verdict(result),
];

/** All results as one table of plain text, area by area. */
export function table(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap(({ results }) => results.map(cells));
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((value, column) => value.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const areas = [...new Set(outcomes.map(({ area }) => area))];
  const parts = areas.flatMap((area) => {
    const own = outcomes.filter((outcome) => outcome.area === area);
    const errors = own.flatMap(({ name, error }) =>
      error === null ? [] : [`  ${name} could not measure: ${error}`],
    );
    return [
      '',
      area,
      ...own.flatMap(({ results }) => results.map((result) => line(cells(result)))),
      ...errors,
    ];
  });
  return [line(HEADINGS), line(widths.map((width) => '-'.repeat(width))), ...parts].join('\n');
}

/** `30 goals, 28 met`, and one line per missed goal. */
export function summary(outcomes: readonly Outcome[]): string {
  const goals = outcomes.flatMap(({ name, results }) => results.map((result) => ({ name, ...result })));
  const set = goals.filter(({ met }) => met !== null);
  const missed = set.filter(({ met }) => met === false);
  return [
    `${set.length} goals, ${set.length - missed.length} met`,
    ...missed.map(({ name, measure, figure, goal }) => `  missed: ${name}: ${measure}: ${figure} (${goal})`),
  ].join('\n');
}
