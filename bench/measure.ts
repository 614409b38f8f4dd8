/** One line of the table. */
export interface Result {
  readonly measure: string;
  readonly figure: string;
  readonly against: string;
  readonly ratio: number | null;
  readonly goal: string;
  /** null = it has no goal. */
  readonly met: boolean | null;
  /** The single runs behind the figures, in their base unit. */
  readonly samples: Readonly<Record<string, readonly number[]>>;
}

/** The sizes of a run: default, quick, or full. */
export interface Sizes {
  readonly commissions: number;
  readonly affiliates: number;
  /** Commissions of a CSV import. */
  readonly imported: number;
  /** Commissions behind the lists, the large and the small account's. */
  readonly listLarge: number;
  readonly listSmall: number;
  /** Rows of the delivery logs, the smallest first, and of one whose rows are of a single hour. */
  readonly logs: readonly [number, number, number];
  readonly logHour: number;
  /** Small accounts in the database of the largest log. */
  readonly tenants: number;
  /** Rounds of expensive measurements. */
  readonly dearRounds: number;
  readonly cheapRounds: number;
  /** Duration of one burst of load. */
  readonly loadSeconds: number;
  /** Number per measurement of throughput. */
  readonly deliveries: number;
  /** Deliveries that wait at a dead endpoint. */
  readonly backlog: number;
  /** Commissions and events of a merchant per month. */
  readonly monthly: { readonly commissions: number; readonly events: number };
  /** Dead rows that a snapshot keeps in the queue. */
  readonly dead: number;
  /** Accounts of idle platforms, and how long they are observed. */
  readonly platforms: readonly number[];
  readonly idleSeconds: number;
  /** Duration of one measurement of latency. */
  readonly latencySeconds: number;
}

/** A group of measures that is run as one, by its name for `--only`. */
export interface Group {
  readonly name: string;
  /** Heading of its rows in the table. */
  readonly area: string;
  run(sizes: Sizes, note: (text: string) => void): AsyncGenerator<Result>;
}

/** A measure without a comparison. */
export const alone = { against: '–', ratio: null } as const;
/** A measure for which no goal is set. */
export const noGoal = { goal: '–', met: null } as const;

/** Seconds that `work` takes. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

/** The smallest value that a `share` of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** After this no further round is started, so that a slow machine takes fewer samples. */
const ROUNDS_SECONDS = 100;

/**
 * Runs every task once per round, in reversed order every other round, so that drift of the machine affects all
 * alike. Each task returns its sample.
 */
export async function interleaved<Name extends string>(
  rounds: number,
  tasks: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(tasks) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const deadline = Date.now() + ROUNDS_SECONDS * 1000;
  for (let round = 0; round < rounds && (round === 0 || Date.now() < deadline); round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      samples[name].push(await tasks[name]());
    }
  }
  return samples;
}

/** `1.23 s`, `45 ms`. */
export function duration(value: number): string {
  if (value >= 10) return `${value.toFixed(1)} s`;
  return value >= 1 ? `${value.toFixed(2)} s` : `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
}

/** `1 M`, `10 k`, `950`. */
export function count(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1e3 ? `${value / 1e3} k` : String(value);
}

/** `123 MB` of bytes. */
export function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}
