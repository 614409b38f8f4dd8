/**
 * `npm run bench -- [--quick | --full] [--only name,name] [--commissions n] [--rounds n] [--monthly n]`
 *
 * Measures the built program on the embedded PostgreSQL with fsync on, prints one table and writes
 * bench/results.json. Trust the ratios: both sides of each come from the same run on the same machine, and a
 * surprising one is worth more rounds on fewer commissions. A missed goal is reported and fails nothing; a group
 * that cannot measure fails the run.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { alone } from './alone.ts';
import { backlog } from './backlog.ts';
import { balances } from './balances.ts';
import { cells } from './cells.ts';
import { cores } from './cores.ts';
import { drain } from './drain.ts';
import { fanout } from './fanout.ts';
import { flood } from './flood.ts';
import { horizon } from './horizon.ts';
import { idlePlatforms } from './idle.ts';
import { importing } from './import.ts';
import { latency } from './latency.ts';
import { lists } from './lists.ts';
import { log } from './log.ts';
import { loop } from './loop.ts';
import { type Group, megabytes, type Result, type Sizes } from './measure.ts';
import { mixed } from './mixed.ts';
import { payoutLines } from './payout-lines.ts';
import { payouts } from './payouts.ts';
import { cleanUp, postgresqlVersion } from './program.ts';
import { publishing } from './publishing.ts';
import { recovery } from './recovery.ts';
import { type Outcome, summary, table } from './report.ts';
import { reports } from './reports.ts';
import { requests } from './requests.ts';
import { screens } from './screens.ts';
import { tableSizes } from './sizes.ts';
import { startup } from './startup.ts';
import { trickle } from './trickle.ts';
import { workers } from './workers.ts';
import { years } from './years.ts';

const GROUPS: readonly Group[] = [
  startup,
  importing,
  payouts,
  payoutLines,
  lists,
  balances,
  reports,
  requests,
  log,
  loop,
  screens,
  drain,
  fanout,
  alone,
  backlog,
  latency,
  publishing,
  mixed,
  trickle,
  flood,
  horizon,
  idlePlatforms,
  recovery,
  workers,
  cores,
  cells,
  years,
  tableSizes,
];

const DEFAULT: Sizes = {
  commissions: 1_000_000,
  affiliates: 1000,
  imported: 250_000,
  listLarge: 1_000_000,
  listSmall: 10_000,
  logs: [10_000, 100_000, 1_000_000],
  logHour: 1_000_000,
  tenants: 1000,
  dearRounds: 2,
  cheapRounds: 5,
  loadSeconds: 3,
  deliveries: 20_000,
  backlog: 200_000,
  dead: 500_000,
  platforms: [2000, 20_000],
  idleSeconds: 60,
  latencySeconds: 6,
  monthly: { commissions: 20_000, events: 40_000 },
};
const QUICK: Sizes = {
  ...DEFAULT,
  dearRounds: 1,
  commissions: 50_000,
  affiliates: 500,
  imported: 50_000,
  listLarge: 100_000,
  logs: [10_000, 30_000, 100_000],
  logHour: 100_000,
  tenants: 100,
  cheapRounds: 3,
  loadSeconds: 1,
  deliveries: 4000,
  backlog: 20_000,
  latencySeconds: 3,
  monthly: { commissions: 2000, events: 4000 },
  platforms: [2000],
  idleSeconds: 35,
};
const FULL: Sizes = {
  ...DEFAULT,
  imported: 1_000_000,
  listLarge: 10_000_000,
  logs: [10_000, 1_000_000, 10_000_000],
  dearRounds: 3,
  cheapRounds: 9,
  loadSeconds: 5,
  latencySeconds: 10,
  monthly: { commissions: 83_000, events: 830_000 },
};

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    full: { type: 'boolean' },
    only: { type: 'string' },
    commissions: { type: 'string' },
    rounds: { type: 'string' },
    monthly: { type: 'string' },
  },
});
const names = values.only?.split(',') ?? GROUPS.map(({ name }) => name);
const unknown = names.filter((name) => !GROUPS.some((group) => group.name === name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known are ${GROUPS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
for (const text of [values.commissions, values.rounds, values.monthly]) {
  if (text === undefined || /^[1-9]\d{0,7}$/.test(text)) continue;
  console.error(`${text} must be a positive number`);
  process.exit(2);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cleanUp();
    process.exit(130);
  });
}

const secondsSince = (begin: number) => Math.round((Date.now() - begin) / 1000);

async function run(group: Group, sizes: Sizes): Promise<Outcome> {
  const note = (text: string) => console.error(`${group.name}: ${text}`);
  const begin = Date.now();
  const results: Result[] = [];
  let problem: string | null = null;
  try {
    for await (const result of group.run(sizes, note)) {
      note(`${result.measure}: ${result.figure}, ${result.against}`);
      results.push(result);
    }
  } catch (error) {
    // The other groups continue; the exit code reports the failure.
    console.error(error);
    problem = error instanceof Error ? error.message : String(error);
    process.exitCode = 1;
  } finally {
    await cleanUp();
  }
  const { name, area } = group;
  return { name, area, seconds: secondsSince(begin), error: problem, results };
}

const base = values.full ? FULL : values.quick ? QUICK : DEFAULT;
const commissions = Number(values.commissions ?? base.commissions);
const sizes: Sizes = {
  ...base,
  commissions,
  imported: Number(values.commissions ?? base.imported),
  monthly: {
    commissions: Number(values.monthly ?? base.monthly.commissions),
    events:
      Number(values.monthly ?? base.monthly.commissions) * (base.monthly.events / base.monthly.commissions),
  },
  dearRounds: Number(values.rounds ?? base.dearRounds),
};
const begin = Date.now();
// the load of the machine before the run
const load = loadavg().map((value) => Math.round(value * 100) / 100);
const groups: Outcome[] = [];
for (const group of GROUPS.filter(({ name }) => names.includes(name))) groups.push(await run(group, sizes));
const [cpu] = cpus();
const machine = {
  cpu: cpu?.model,
  cores: cpus().length,
  memory: megabytes(totalmem()),
  kernel: release(),
  node: process.version,
  postgresql: postgresqlVersion(),
  load,
};
const record = {
  at: new Date(begin).toISOString(),
  seconds: secondsSince(begin),
  machine,
  sizes,
  summary: summary(groups),
  groups,
};
writeFileSync(new URL('results.json', import.meta.url), `${JSON.stringify(record, null, 2)}\n`);
console.log(`${table(groups)}\n\n${summary(groups)}`);
console.error(`${record.seconds} s`);
