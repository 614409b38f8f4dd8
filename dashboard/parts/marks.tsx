import { type ReactNode, useId } from 'react';

/** One data series of a chart. */
export interface Series {
  readonly name: string;
  /** A value per point; null = none. */
  readonly values: readonly (number | null)[];
  /** Bars are side by side, those of a stack on top of each other. */
  readonly kind: 'line' | 'bar' | 'stack';
  readonly tone: 'accent' | 'good' | 'warn' | 'bad' | 'soft';
  /** Wraps the figure of a point in a link to its rows. */
  readonly link?: (index: number, figure: string) => ReactNode;
}

/** The coordinates in the picture, in pixels. */
export interface Frame {
  /** The width per point. */
  readonly slot: number;
  /** The centre of a point. */
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
}

export const HEIGHT = 220;

// the dash patterns and fills of the first to the fourth series, in addition to their colours
const DASHES = [undefined, '6 3', '2 3', '8 3 2 3'];
const FILLINGS = ['full', 'hatched', 'hollow', 'dotted'] as const;

/** The legend symbol of a series. */
export function Key({ series: { kind, tone }, index }: { series: Series; index: number }) {
  const id = useId();
  return (
    <svg className={`chart-key tone-${tone}`} viewBox="0 0 18 10" aria-hidden="true">
      {kind === 'line' ? (
        <path className="chart-line" d="M0 5h18" strokeDasharray={DASHES[index]} />
      ) : (
        <>
          <Filling id={id} index={index} />
          <rect className="chart-bar" x="2.5" y="0.5" width="13" height="9" fill={`url(#${id})`} />
        </>
      )}
    </svg>
  );
}

/** The fill pattern of a series' bars. */
function Filling({ id, index }: { id: string; index: number }) {
  const filling = FILLINGS[index] ?? 'full';
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse">
      <rect className={filling === 'full' ? 'chart-full' : 'chart-hollow'} width="5" height="5" />
      {filling === 'hatched' && <path className="chart-hatch" d="M-1 1l2-2M0 5l5-5M4 6l2-2" />}
      {filling === 'dotted' && <circle className="chart-full" cx="2.5" cy="2.5" r="1" />}
    </pattern>
  );
}

/** Lines and bars. The selected point has a dot on each line, as does a value that no line reaches. */
export function Marks({ series, frame, at }: { series: readonly Series[]; frame: Frame; at: number }) {
  const id = useId();
  const sides = series.filter(({ kind }) => kind === 'bar');
  const stack = series.filter(({ kind }) => kind === 'stack');
  return (
    <>
      {series.map((each, index) => {
        const { kind, tone, values, name } = each;
        if (kind === 'line') {
          return (
            <g key={name} className={`tone-${tone}`}>
              <path className="chart-line" d={lineOf(values, frame)} strokeDasharray={DASHES[index]} />
              {values.map(
                (value, point) =>
                  value !== null &&
                  (point === at || isAlone(values, point)) && (
                    <circle
                      key={point}
                      className="chart-full"
                      cx={frame.x(point)}
                      cy={frame.y(value)}
                      r={point === at ? 3.5 : 2.5}
                    />
                  ),
              )}
            </g>
          );
        }
        const places = kind === 'bar' ? sides : stack;
        const below = kind === 'stack' ? stack.slice(0, stack.indexOf(each)) : [];
        const share = kind === 'bar' ? [places.indexOf(each), places.length] : [0, 1];
        return (
          <g key={name} className={`tone-${tone}`}>
            <Filling id={`${id}-${index}`} index={index} />
            <path
              className="chart-bar"
              d={barsOf(values, below, frame, share as [number, number])}
              fill={`url(#${id}-${index})`}
            />
          </g>
        );
      })}
    </>
  );
}

const isMissing = (values: Series['values'], index: number) => (values[index] ?? null) === null;
const isAlone = (values: Series['values'], index: number) =>
  isMissing(values, index - 1) && isMissing(values, index + 1);

/** A line through the values; missing values interrupt it. */
function lineOf(values: Series['values'], { x, y }: Frame): string {
  return values
    .map((value, index) =>
      value === null ? '' : `${isMissing(values, index - 1) ? 'M' : 'L'}${x(index)} ${y(value)}`,
    )
    .join('');
}

const [BAR_PART, WIDEST] = [0.7, 36];

/** The bars of one series as one path: at index `place` of those side by side, on top of those below. */
function barsOf(
  values: Series['values'],
  below: readonly Series[],
  { slot, x, y }: Frame,
  [place, places]: readonly [place: number, places: number],
): string {
  const all = Math.min(slot * BAR_PART, WIDEST * places);
  const width = Math.max(all / places, 0.5);
  return values
    .map((value, index) => {
      if (!value) return '';
      const base = below.reduce((sum, each) => sum + (each.values[index] ?? 0), 0);
      const left = x(index) - all / 2 + place * width;
      return `M${left} ${y(base)}V${y(base + value)}h${Math.max(width - 1, 0.5)}V${y(base)}z`;
    })
    .join('');
}
