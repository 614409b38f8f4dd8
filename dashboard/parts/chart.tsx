import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { common } from '../texts/common.ts';
import { Button } from './button.tsx';
import { type Frame, HEIGHT, Key, Marks, type Series } from './marks.tsx';
import { ticksOf } from './scale.ts';
import { Table } from './table.tsx';
import '../style/chart.css';

/** A time interval: its full name (`October 2026`) and its axis label (`Oct`). See `intervalName`. */
export interface Point {
  readonly title: string;
  readonly tick: string;
}

interface ChartProps {
  /** The accessible name of the chart, and the caption of the table. */
  readonly label: string;
  /** The intervals, oldest first; undefined while loading. */
  readonly points: readonly Point[] | undefined;
  /** Lines and bars, at most four: each has a colour and a dash or pattern, so that none depends on colour alone. */
  readonly series: readonly Series[];
  /** Formats a value in full: `1,525.84 USD`, `312 ms`. */
  readonly figure: (value: number) => string;
  /** Formats a round value for the axis: `1.5K`. */
  readonly scale: (value: number) => string;
  /** Shown instead of the chart when all values are 0. */
  readonly empty: ReactNode;
}

/**
 * Values over time. The figures of the interval that is hovered or selected with the arrow keys are shown above the
 * chart, at first those of the newest. `t` or the button shows all figures as a table.
 */
export function Chart(props: ChartProps) {
  const { label, points, series, figure, empty } = props;
  const [isTable, setTable] = useState(false);
  const [chosen, setChosen] = useState<number | null>(null);
  const hintId = useId();
  if (points === undefined) return <div className="chart-blank" aria-busy="true" />;
  if (!series.some(({ values }) => values.some((value) => value))) {
    return <div className="chart-blank soft">{empty}</div>;
  }
  const at = Math.min(chosen ?? points.length, points.length - 1);
  const titleOf = (index: number) => points[index]?.title ?? '';
  const textAt = ({ values }: Series, index: number) => {
    const value = values[index] ?? null;
    return value === null ? common.nothing : figure(value);
  };
  const figureAt = (each: Series, index: number) =>
    each.link && each.values[index] ? each.link(index, textAt(each, index)) : textAt(each, index);
  const press = (event: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }[event.key];
    if (to !== undefined) setChosen(Math.min(Math.max(to, 0), points.length - 1));
    else if (event.key === 't') setTable(true);
    else return;
    event.preventDefault();
  };
  const texts = common.chart;
  return (
    <div className="chart">
      <div className="chart-head">
        {isTable ? (
          <span />
        ) : (
          <div className="chart-reading">
            <b>{titleOf(at)}</b>
            {series.map((each, index) => (
              <span key={each.name}>
                <Key series={each} index={index} /> {each.name} <b>{figureAt(each, at)}</b>
              </span>
            ))}
          </div>
        )}
        <Button kind="quiet" onPress={() => setTable(!isTable)}>
          {isTable ? texts.asChart : texts.asTable}
        </Button>
      </div>
      {isTable ? (
        <div className="chart-table">
          <Table
            label={label}
            columns={[
              { title: texts.when, cell: titleOf },
              ...series.map((each) => ({
                title: each.name,
                isFigure: true,
                cell: (index: number) => figureAt(each, index),
              })),
            ]}
            rows={points.map((_, index) => index)}
            keyOf={String}
          />
        </div>
      ) : (
        <>
          <Plot
            {...props}
            points={points}
            at={at}
            choose={setChosen}
            // the native role for moving along values with the arrow keys
            wired={{
              role: 'slider',
              tabIndex: 0,
              'aria-label': label,
              'aria-describedby': hintId,
              'aria-valuemin': 1,
              'aria-valuemax': points.length,
              'aria-valuenow': at + 1,
              'aria-valuetext': `${titleOf(at)}: ${series
                .map((each) => `${each.name} ${textAt(each, at)}`)
                .join(', ')}`,
              onKeyDown: press,
            }}
          />
          <p className="hidden-text" id={hintId}>
            {texts.hint}
          </p>
        </>
      )}
    </div>
  );
}

const [TOP, BOTTOM, RIGHT, CHARACTER, BETWEEN_TICKS] = [8, 22, 4, 6.5, 56];

function Plot({
  points,
  series,
  scale,
  at,
  choose,
  wired,
}: ChartProps & {
  points: readonly Point[];
  at: number;
  choose: (index: number) => void;
  wired: object;
}) {
  const [ref, width] = useWidth();
  const ticks = ticksOf(reachOf(series));
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const left = Math.max(...ticks.map((tick) => scale(tick).length)) * CHARACTER + 10;
  const slot = Math.max(width - left - RIGHT, 1) / points.length;
  const frame: Frame = {
    slot,
    x: (index) => left + (index + 0.5) * slot,
    y: (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM),
  };
  const point = (event: PointerEvent<HTMLElement>) => {
    const from = event.currentTarget.getBoundingClientRect().left;
    const index = Math.floor((event.clientX - from - left) / slot);
    choose(Math.min(Math.max(index, 0), points.length - 1));
  };
  // labels the newest interval and every nth before it
  const every = Math.max(1, Math.ceil(BETWEEN_TICKS / slot));
  return (
    <div className="chart-plot" ref={ref} onPointerMove={point} onPointerDown={point} {...wired}>
      <svg width={width} height={HEIGHT} aria-hidden="true">
        {ticks.map((tick) => (
          <g key={tick}>
            <line
              className={tick === 0 ? 'chart-zero' : 'chart-grid'}
              x1={left}
              x2={width - RIGHT}
              y1={frame.y(tick)}
              y2={frame.y(tick)}
            />
            <text className="chart-text" x={left - 6} y={frame.y(tick) + 4} textAnchor="end">
              {scale(tick)}
            </text>
          </g>
        ))}
        <rect
          className="chart-chosen"
          x={frame.x(at) - slot / 2}
          y={TOP}
          width={slot}
          height={HEIGHT - TOP - BOTTOM}
        />
        {points.map(({ tick, title }, index) =>
          (points.length - 1 - index) % every === 0 ? (
            <text
              key={title}
              className="chart-text"
              x={Math.min(Math.max(frame.x(index), left + tick.length * 3), width - tick.length * 3 - RIGHT)}
              y={HEIGHT - 6}
              textAnchor="middle"
            >
              {tick}
            </text>
          ) : null,
        )}
        <Marks series={series} frame={frame} at={at} />
      </svg>
    </div>
  );
}

/** The range of the values; stacked bars count as their sums. */
function reachOf(series: readonly Series[]): number[] {
  const stacked = series.filter(({ kind }) => kind === 'stack');
  const sums = (stacked[0]?.values ?? []).map((_, index) =>
    stacked.reduce((sum, { values }) => sum + (values[index] ?? 0), 0),
  );
  const others = series.filter(({ kind }) => kind !== 'stack');
  return [...sums, ...others.flatMap(({ values }) => values.map((value) => value ?? 0))];
}

/** A hook: the current width of an element in pixels. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}
