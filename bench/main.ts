/**
 * `npm run bench -- [--quick | --full] [--only name,name] [--commissions n] [--rounds n]`
 *
 * Measures the built program on the embedded PostgreSQL with fsync on, prints one table and writes
 * bench/results.json. Trust the ratios: both sides of each come from the same run on the same machine, and a
 * surprising one is worth more rounds on fewer commissions. A missed goal is told and fails nothing.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { deliveries } from './deliveries.ts';
import { importing } from './import.ts';
import { latency } from './latency.ts';
import { lists } from './lists.ts';
import { type Group, type Result, type Sizes, table } from './measure.ts';
import { payouts } from './payouts.ts';
import { cleanUp } from './program.ts';
import { publishing } from './publishing.ts';
import { requests } from './requests.ts';
import { startup } from './startup.ts';

const GROUPS: readonly Group[] = [
  startup,
  importing,
  payouts,
  lists,
  requests,
  deliveries,
  latency,
  publishing,
];

const DEFAULT: Sizes = {
  commissions: 1_000_000,
  affiliates: 1000,
  listLarge: 2_000_000,
  listSmall: 10_000,
  dearRounds: 2,
  cheapRounds: 5,
  loadSeconds: 3,
  deliveries: 20_000,
  latencySeconds: 10,
};
const QUICK: Sizes = {
  ...DEFAULT,
  dearRounds: 1,
  commissions: 50_000,
  affiliates: 500,
  listLarge: 100_000,
  cheapRounds: 3,
  loadSeconds: 1,
  deliveries: 4000,
  latencySeconds: 3,
};
const FULL: Sizes = { ...DEFAULT, listLarge: 10_000_000, dearRounds: 3, cheapRounds: 9, loadSeconds: 5 };

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    full: { type: 'boolean' },
    only: { type: 'string' },
    commissions: { type: 'string' },
    rounds: { type: 'string' },
  },
});
const names = values.only?.split(',') ?? GROUPS.map(({ name }) => name);
const unknown = names.filter((name) => !GROUPS.some((group) => group.name === name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known are ${GROUPS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cleanUp();
    process.exit(130);
  });
}

async function run(group: Group, sizes: Sizes, results: Result[]): Promise<void> {
  const note = (text: string) => console.error(`${group.name}: ${text}`);
  try {
    for await (const result of group.run(sizes, note)) {
      note(`${result.measure}: ${result.figure}, ${result.against}`);
      results.push(result);
    }
  } catch (error) {
    // The other groups go on; a run that could not measure is told by its exit code.
    console.error(error);
    process.exitCode = 1;
  } finally {
    await cleanUp();
  }
}

for (const text of [values.commissions, values.rounds]) {
  if (text === undefined || /^[1-9]\d{0,7}$/.test(text)) continue;
  console.error(`${text} must be a positive number`);
  process.exit(2);
}
const base = values.full ? FULL : values.quick ? QUICK : DEFAULT;
const sizes: Sizes = {
  ...base,
  commissions: Number(values.commissions ?? base.commissions),
  dearRounds: Number(values.rounds ?? base.dearRounds),
};
const begin = Date.now();
const results: Result[] = [];
for (const group of GROUPS.filter(({ name }) => names.includes(name))) await run(group, sizes, results);
const [cpu] = cpus();
const machine = { node: process.version, cpu: cpu?.model, cores: cpus().length };
writeFileSync(
  new URL('results.json', import.meta.url),
  `${JSON.stringify({ at: new Date().toISOString(), machine, sizes, results }, null, 2)}\n`,
);
console.log(table(results));
console.error(`${((Date.now() - begin) / 1000).toFixed(0)} s`);
