import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOOLS = fileURLToPath(new URL('../tools', import.meta.url));

/** A payment as a reader of NACHA files finds it; `amount` in minor units. */
export interface NachaPayment {
  readonly class: string;
  readonly reference: string;
  readonly amount: number;
  readonly name: string;
  readonly routing: string;
  readonly number: string;
  readonly code: number;
  readonly trace: string;
  /** The reason code of a return. */
  readonly returned?: string;
  /** The code of a notification of change. */
  readonly changed?: string;
  /** The trace number of the payment that is returned or corrected. */
  readonly original?: string;
  readonly corrected?: {
    readonly AccountNumber: string;
    readonly RoutingNumber: string;
    readonly Name: string;
    readonly TransactionCode: number;
  };
}

/** The result of github.com/moov-io/ach for a file. */
interface NachaReading {
  readonly error?: string;
  readonly credit: number;
  readonly debit: number;
  readonly effective: string;
  readonly payments: NachaPayment[];
}

/** Builds the reader of test/tools/ach from downloaded modules; returns the reason when it cannot. */
function build(): { readonly program: string } | { readonly missing: string } {
  mkdirSync(join(TOOLS, 'out'), { recursive: true });
  const folder = mkdtempSync(join(TOOLS, 'out', 'ach-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  try {
    const program = join(folder, 'reader');
    const env = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=readonly' };
    execFileSync('go', ['build', '-o', program, '.'], { cwd: join(TOOLS, 'ach'), env, stdio: 'pipe' });
    return { program };
  } catch {
    return { missing: 'no Go, or not the modules of test/tools/ach (.ci/run fetches them)' };
  }
}
const reader = build();

/** Why no other program reads NACHA files here, or null. */
export const missingReader = 'missing' in reader ? reader.missing : null;

function ask<Answer>(args: readonly string[]): Answer[] {
  if ('missing' in reader) throw new Error(reader.missing);
  const output = execFileSync(reader.program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** What github.com/moov-io/ach reads in these files, or why it refuses them. */
export function readByAnother(files: readonly string[]): NachaReading[] {
  const folder = mkdtempSync(join(TOOLS, 'out', 'files-'));
  try {
    const paths = files.map((_, place) => join(folder, `${place}.ach`));
    for (const [place, path] of paths.entries()) writeFileSync(path, files[place] ?? '');
    return ask<NachaReading>(paths);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The working days of a period on which github.com/moov-io/base has the Federal Reserve closed. */
export const closedDays = (from: string, to: string): string[] => ask<string[]>(['days', from, to])[0] ?? [];

/** The payments in a file, by the columns of the operating rules. */
export function paymentsIn(file: string): NachaPayment[] {
  let section = '';
  const found: NachaPayment[] = [];
  for (const line of file.split('\r\n')) {
    if (line.startsWith('5')) section = line.slice(50, 53);
    if (!line.startsWith('6')) continue;
    found.push({
      class: section,
      reference: line.slice(39, 54).trimEnd(),
      amount: Number(line.slice(29, 39)),
      name: line.slice(54, 76).trimEnd(),
      routing: line.slice(3, 12),
      number: line.slice(12, 29).trimEnd(),
      code: Number(line.slice(1, 3)),
      trace: line.slice(79, 94),
    });
  }
  return found;
}

/** Violations of the file format: lines, blocks, order, counts, sums, hashes and numbers. */
export function breaches(file: string): string[] {
  const lines = file.split('\r\n');
  const last = lines.pop();
  const records = lines.filter((line) => !/^9{94}$/.test(line));
  const of = (kind: string) => records.filter((line) => line.startsWith(kind));
  const [header = '', control = ''] = [of('1')[0], of('9')[0]];
  const batches = file.split('\r\n5').slice(1);
  const sumsOf = (text: string) => {
    const payments = paymentsIn(text);
    const hash = payments.reduce((sum, { routing }) => sum + BigInt(routing.slice(0, 8)), 0n) % 10n ** 10n;
    const credit = payments.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
    const padded = (value: bigint | number, width: number) => String(value).padStart(width, '0');
    return {
      count: payments.length,
      tail: `${padded(hash, 10)}${padded(0, 12)}${padded(credit, 12)}`,
      padded,
    };
  };
  const whole = sumsOf(file);
  const traces = paymentsIn(file).map(({ trace }) => trace);
  const rules: readonly [string, boolean][] = [
    [
      'lines of 94 characters that end with CR and LF',
      last === '' && lines.every(({ length }) => length === 94),
    ],
    ['printable ASCII', /^[\r\n\x20-\x7e]*$/.test(file)],
    ['blocks of ten', lines.length % 10 === 0 && lines.length - records.length < 10],
    ['the order', /^1(?:56+8)+9$/.test(records.map((line) => line[0]).join(''))],
    ['the size of records and blocks', header.slice(34, 40) === '094101'],
    ['the batches', control.slice(1, 7) === whole.padded(batches.length, 6)],
    ['the blocks', control.slice(7, 13) === whole.padded(lines.length / 10, 6)],
    ['the count and sums of the file', control.slice(13, 55) === whole.padded(whole.count, 8) + whole.tail],
    [
      'the counts and sums of the batches',
      of('8').every((line, place) => {
        const { count, tail, padded } = sumsOf(`5${batches[place]}`);
        return (
          line.slice(1, 44) === `220${padded(count, 6)}${tail}` && line.slice(87) === padded(place + 1, 7)
        );
      }),
    ],
    [
      'a batch and its control say the same',
      of('5').every((line, place) => {
        const end = of('8')[place] ?? '';
        return line.slice(40, 50) === end.slice(44, 54) && line.slice(79) === end.slice(79);
      }),
    ],
    ['trace numbers rise', traces.every((trace, place) => place === 0 || trace > (traces[place - 1] ?? ''))],
  ];
  return rules.filter(([, isKept]) => !isKept).map(([rule]) => rule);
}
