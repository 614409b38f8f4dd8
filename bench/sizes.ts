import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TABLES, UNITS, type Unit } from '../src/db/tables.ts';
import { writeCommissions } from './import.ts';
import { makeEndpoint } from './latency.ts';
import { alone, count, type Group, megabytes, noGoal, type Result } from './measure.ts';
import { type Bench, MAIN, start, startBench, temporaryFolder } from './program.ts';
import { LOOPBACK, startReceiver } from './receiver.ts';
import { EVENT_FILLER, seedAffiliates } from './seed.ts';

const AFFILIATES = 1200;
const COMMISSIONS = 50_000;
const SINGLE = 1000;
const EVENTS = 20_000;
const AT_ONCE = 200;
/** With fewer rows the size of a table says little about the size of a row. */
const ENOUGH = 1000;
const GIGABYTE = 1e9;

/** Fills the tables that grow with commissions, events and requests, through the API. */
async function fill(bench: Bench, note: (text: string) => void): Promise<void> {
  const file = join(temporaryFolder(), 'commissions.csv');
  note(`importing ${count(COMMISSIONS)} commissions`);
  await seedAffiliates(bench.pg, bench.account, AFFILIATES);
  await writeCommissions(file, COMMISSIONS, AFFILIATES);
  await bench.upload('/v2/affiliates/commissions/import', createReadStream(file));
  for (let index = 0; index < SINGLE; index += 1) {
    const affiliate_external_id = `aff-${(index % AFFILIATES) + 1}`;
    const body = { external_id: `one-${index}`, affiliate_external_id, amount: 500, currency: 'usd' };
    await bench.send('POST', '/v2/affiliates/commissions', body, `key-${index}`);
  }
  const { rows: ids } = await bench.pg.query<{ id: string }>('select id from affiliates limit $1', [SINGLE]);
  for (const { id } of ids) await bench.send('PATCH', `/v2/affiliates/${id}`, { name_first: 'Ada' });
  note('paying them');
  const { id } = JSON.parse(await bench.send('POST', '/v2/affiliates/payouts', {})) as { id: string };
  const lines = await bench.pg.query<{ affiliate_id: string }>('select affiliate_id from payout_lines');
  const commissions = lines.rows.map((line) => ({ affiliate_id: Number(line.affiliate_id), is_paid: true }));
  await bench.send('PUT', `/v2/affiliates/payouts/${id}`, { commissions });
  note(`delivering ${count(EVENTS)} events of 1 KB`);
  const receiver = await startReceiver();
  await makeEndpoint(bench, `${receiver.url}/hook`, 'bench.happened');
  for (let first = 0; first < EVENTS; first += AT_ONCE) {
    const events = Array.from({ length: AT_ONCE }, (_, index) => {
      const data = JSON.parse(`{"number":${first + index},${EVENT_FILLER}}`);
      return { type: 'bench.happened', data, external_id: `event-${first + index}` };
    });
    await bench.send('POST', '/v2/events/batch', { events });
  }
  await receiver.until(EVENTS);
  // balance notes are added up within seconds
  const left = 'select (select count(*) from queue) + (select count(*) from affiliate_balance_notes) as left';
  while (Number((await bench.pg.query(left)).rows[0].left) > 0) await delay(200);
  await bench.pg.query('vacuum analyze');
}

/** Bytes and rows of each table, those of partitions with their parent's. */
async function tablesOf(bench: Bench): Promise<Map<string, { bytes: number; rows: number }>> {
  const { rows } = await bench.pg.query<{ name: string; bytes: number; rows: number }>(
    `select coalesce(p.relname, c.relname) as name, sum(pg_total_relation_size(c.oid))::float8 as bytes,
            sum(greatest(c.reltuples, 0))::float8 as rows
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1 order by 1`,
  );
  return new Map(rows.map(({ name, ...size }) => [name, size]));
}

/** Runs a command of the program to its end; returns its seconds and its maximum memory. */
async function run(
  argv: readonly string[],
  env: Record<string, string>,
): Promise<{ seconds: number; memory: number }> {
  const begin = performance.now();
  const child = start([MAIN, ...argv], env, join(temporaryFolder(), 'command.log'));
  let memory = 0;
  while (child.exitCode === null && child.signalCode === null) {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      memory = Math.max(memory, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024);
    } catch {
      // it has just ended, or this is not Linux
    }
    await delay(20);
  }
  if (child.exitCode !== 0) throw new Error(`payhook ${argv[0]} failed`);
  return { seconds: (performance.now() - begin) / 1000, memory };
}

/** Bytes per commission, event, … in each table, compared with the list of tables; and a backup with its restore. */
export const tableSizes: Group = {
  name: 'sizes',
  area: 'Bytes of tables (src/db/tables.ts), backup and restore',
  async *run(_, note): AsyncGenerator<Result> {
    const bench = await startBench(LOOPBACK);
    await fill(bench, note);
    const found = await tablesOf(bench);
    for (const [name, { unit, bytes }] of Object.entries(TABLES)) {
      const table = found.get(name);
      const units = unitsOf(unit, table?.rows ?? 0, found);
      if (table === undefined || table.rows < ENOUGH || units < ENOUGH) continue;
      const measured = Math.round(table.bytes / units);
      yield {
        measure: `${name}: bytes for each ${unit}`,
        figure: count(measured),
        against: `${count(bytes)} in the list`,
        ratio: measured / bytes,
        ...noGoal,
        samples: { bytes: [measured] },
      };
    }
    const { rows } = await bench.pg.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    );
    const bytes = Number(rows[0]?.bytes);
    const folder = temporaryFolder();
    const file = join(folder, 'all.payhook');
    note(`saving ${megabytes(bytes)}`);
    const backup = await run(['backup', file], { DATA_DIR: bench.dataDir });
    await bench.stop();
    note('restoring it');
    const restore = await run(['restore', file], { DATA_DIR: join(folder, 'restored') });
    for (const [measure, { seconds, memory }] of Object.entries({ backup, restore })) {
      yield {
        measure: `${measure} of ${megabytes(bytes)} into a file of ${megabytes(statSync(file).size)}`,
        figure: `${seconds.toFixed(1)} s, ${(((seconds / bytes) * GIGABYTE) / 60).toFixed(1)} min per GB, ${megabytes(memory)} of memory`,
        ...alone,
        ...noGoal,
        samples: { seconds: [seconds], memory: [memory] },
      };
    }
  },
};

function unitsOf(unit: Unit, own: number, found: ReadonlyMap<string, { rows: number }>): number {
  const facts = UNITS[unit];
  return 'table' in facts ? (found.get(facts.table)?.rows ?? 0) : own;
}
