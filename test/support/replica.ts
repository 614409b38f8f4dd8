import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedDatabase, openEmbedded } from '../../src/db/embedded/open.ts';

/** Two embedded PostgreSQLs, of which one follows the other by streaming replication. */
export interface Pair {
  readonly primary: EmbeddedDatabase;
  readonly replica: EmbeddedDatabase;
  /** kill -9 of the primary, its postmaster; its processes end with it. */
  killPrimary(): Promise<void>;
  /** Makes the replica a primary; resolves when it takes writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

/** As Payhook's own, and one for replication. */
const ACCESS_RULES = 'local all all scram-sha-256\nlocal replication all scram-sha-256\n';

/** Starts a pair. If `synchronous`, the primary commits nothing before the replica has it on its disk. */
export async function startPair({ synchronous }: { synchronous: boolean }): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-pair-'));
  const rules = join(folder, 'rules.conf');
  writeFileSync(rules, ACCESS_RULES);
  const [first, second] = [join(folder, 'a'), join(folder, 'b')];
  await (await openEmbedded({ dataDir: first, purpose: 'serve' })).close();
  // a copy of a stopped primary is a replica that has read everything so far
  cpSync(first, second, { recursive: true, filter: (path) => !path.startsWith(join(first, 'run')) });
  writeFileSync(join(second, 'postgres', 'standby.signal'), '');
  const names = synchronous ? '*' : '';
  const ofPrimary = { hba_file: rules, synchronous_standby_names: names };
  const primary = await openEmbedded({ dataDir: first, purpose: 'serve', settings: ofPrimary });
  const { host, port, user, password } = primary.superuser;
  const conninfo = `host=${host} port=${port} user=${user} password=${password}`;
  const replica = await openEmbedded({
    dataDir: second,
    purpose: 'serve',
    settings: { primary_conninfo: conninfo, hot_standby: 'on' },
  });
  return {
    primary,
    replica,
    async killPrimary() {
      process.kill(
        Number.parseInt(readFileSync(join(first, 'postgres', 'postmaster.pid'), 'utf8'), 10),
        'SIGKILL',
      );
      await primary.exited;
    },
    async promote() {
      const client = new pg.Client({ ...replica.superuser });
      await client.connect();
      await client.query('select pg_promote()');
      await client.end();
    },
    async close() {
      await replica.close();
      await primary.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
