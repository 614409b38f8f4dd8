import '../style/chart.css';

const [WIDTH, HEIGHT, LEAST] = [96, 24, 1.5];

/**
 * Small bars over time in a row of a list: successes go up from a line, failures down, on the same scale; even the
 * smallest value is visible. `label` has the sums as text, such as `312 delivered and 4 failed in 24 hours`.
 */
export function Sparkline({
  label,
  up,
  down,
}: {
  label: string;
  up: readonly number[];
  down: readonly number[];
}) {
  const [highest, deepest] = [Math.max(0, ...up), Math.max(0, ...down)];
  const size = (HEIGHT - 2 * LEAST) / Math.max(1, highest + deepest);
  const line = HEIGHT - LEAST - deepest * size;
  const slot = WIDTH / Math.max(up.length, 1);
  const bars = (values: readonly number[], sign: 1 | -1) =>
    values
      .map((value, index) =>
        value === 0
          ? ''
          : `M${index * slot} ${line}v${-sign * Math.max(value * size, LEAST)}h${slot - 1}V${line}z`,
      )
      .join('');
  return (
    <svg className="sparkline" width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <path className="tone-good chart-full" d={bars(up, 1)} />
      <path className="tone-bad chart-full" d={bars(down, -1)} />
      <line className="chart-grid" x2={WIDTH} y1={line} y2={line} />
    </svg>
  );
}
