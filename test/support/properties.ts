import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { someOf } from './depth.ts';

/** The file of seeds and counterexamples, for readers of a failure. */
const FILE = 'test/properties/recorded.json';
/** How long a failing run searches for a smaller counterexample. */
const SHRINKING_MS = 45_000;
const MINUTE_MS = 60_000;

/** A case that once failed, and stays in every run. */
interface Counterexample {
  /** What went wrong. */
  readonly found: string;
  /** The case itself, where JSON can hold it. It stays the same when the arbitrary changes. */
  readonly value?: unknown;
  /** Its path in fast-check, which identifies the case where JSON cannot hold it. */
  readonly seed?: number;
  readonly path?: string;
}

interface Recorded {
  /** The seeds of every run: several where each was chosen for what its cases reach. */
  readonly seeds: readonly number[];
  /** The share of PROPERTY_MINUTES, in proportion to the others. */
  readonly share: number;
  readonly counterexamples: readonly Counterexample[];
}

const RECORDED: Readonly<Record<string, Recorded>> = JSON.parse(
  readFileSync(new URL('../properties/recorded.json', import.meta.url), 'utf8'),
);

/** What a check gets besides its case. */
export interface Run {
  /** Which of the clients runs the case, from 0. */
  readonly client: number;
  /** Records a step for the report of a failure. */
  note(line: string): void;
}

export interface Property<Value> {
  /** Its name in test/properties/recorded.json. */
  readonly name: string;
  readonly arbitrary: fc.Arbitrary<Value>;
  /** How many cases a seed gives. */
  readonly cases: number;
  /** How many clients run the cases of different seeds at once; one by default. */
  readonly clients?: number;
  /** Whether a failing run searches for a smaller case; false where one failure breaks what the next cases need. */
  readonly shrinks?: boolean;
  /** Throws where the property does not hold. */
  readonly check: (value: Value, run: Run) => void | Promise<void>;
}

/**
 * Checks a property: every recorded counterexample, then a fixed number of cases from a third of the recorded seeds, or
 * from each of them in a long run. With
 * PROPERTY_MINUTES it continues with random seeds for its share of that time. Throws what it found, with the line that
 * records it.
 */
export async function expectProperty<Value>(
  property: Property<Value>,
  recorded = RECORDED[property.name],
): Promise<void> {
  if (!recorded) throw new Error(`${FILE} has no line for ${property.name}`);
  for (const each of recorded.counterexamples) await repeat(property, each);
  await runSeeds(property, someOf(recorded.seeds, Math.ceil(recorded.seeds.length / 3)));
  const minutes = Number(process.env.PROPERTY_MINUTES ?? 0);
  if (minutes > 0) await search(property, minutes * MINUTE_MS * partOf(recorded));
}

/** A property's share of the whole search. */
function partOf({ share }: Recorded): number {
  return share / Object.values(RECORDED).reduce((sum, each) => sum + each.share, 0);
}

async function search<Value>(property: Property<Value>, ms: number): Promise<void> {
  const end = performance.now() + ms;
  let cases = 0;
  while (performance.now() < end) {
    const seeds = Array.from({ length: property.clients ?? 1 }, () => Math.floor(Math.random() * 2 ** 31));
    await runSeeds(property, seeds);
    cases += seeds.length * property.cases;
  }
  process.stderr.write(`${property.name}: ${cases} more cases in ${Math.round(ms / 1000)} s, all good\n`);
}

async function repeat<Value>({ name, arbitrary, check }: Property<Value>, known: Counterexample) {
  const { found, seed, path } = known;
  const [value] =
    'value' in known
      ? [known.value as Value]
      : fc.sample(arbitrary, { ...(seed === undefined ? {} : { seed }), path: path ?? '', numRuns: 1 });
  const notes: string[] = [];
  try {
    await check(value as Value, { client: 0, note: (line) => void notes.push(line) });
  } catch (error) {
    if (fc.PreconditionFailure.isFailure(error)) return;
    const what = `${name} fails again where it once failed (${found})`;
    throw new Error([`${what}:`, ...notes, (error as Error).message].join('\n'), { cause: error });
  }
}

/** Runs the cases of all seeds; the clients take one seed after the other. */
async function runSeeds<Value>(property: Property<Value>, seeds: readonly number[]): Promise<void> {
  const { arbitrary, cases, clients = 1, shrinks = true, check } = property;
  let failing: number | undefined;
  let end = Number.POSITIVE_INFINITY;
  let notes: string[] = [];
  const propertyOf = (client: number) =>
    fc.asyncProperty(arbitrary, async (value) => {
      // the others stop, and the failing case is made smaller for a while
      if (failing !== undefined && (failing !== client || performance.now() > end)) return;
      const own: string[] = [];
      try {
        await check(value, { client, note: (line) => void own.push(line) });
      } catch (error) {
        if (fc.PreconditionFailure.isFailure(error)) throw error;
        if (failing === undefined) end = performance.now() + SHRINKING_MS;
        failing ??= client;
        if (failing === client) notes = own;
        throw error;
      }
    });
  const left = [...seeds];
  const runClient = async (client: number) => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      const result = await fc.check(propertyOf(client), { seed, numRuns: cases, endOnFailure: !shrinks });
      if (!result.failed) continue;
      left.length = 0;
      return failureOf(property.name, result, notes);
    }
    return undefined;
  };
  const failures = await Promise.all(Array.from({ length: clients }, (_, client) => runClient(client)));
  const failure = failures[failing ?? -1] ?? failures.find((each) => each !== undefined);
  if (failure) throw failure;
}

function failureOf<Value>(name: string, result: fc.RunDetails<[Value]>, notes: readonly string[]): Error {
  const { counterexample, seed, counterexamplePath: path, numRuns, numShrinks, errorInstance } = result;
  if (counterexample === null || path === null) return new Error(fc.defaultReportMessage(result));
  const [value] = counterexample;
  const { message } = errorInstance as Error;
  const line = { found: message.split('\n')[0], ...(isJson(value) ? { value } : {}), seed, path };
  return new Error(
    [
      `${name} failed in case ${numRuns} of the seed ${seed} (path ${path}), made smaller ${numShrinks} times:`,
      ...(notes.length > 0 ? notes : [fc.stringify(value)]),
      message,
      `To keep it, add this line to the counterexamples of "${name}" in ${FILE}:`,
      JSON.stringify(line),
    ].join('\n'),
    { cause: errorInstance },
  );
}

/** Whether JSON gives the same value back. */
function isJson(value: unknown): boolean {
  try {
    // without the prototypes, which are null in some records
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), structuredClone(value));
  } catch {
    return false;
  }
}
