import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedDatabase, openEmbedded } from '../../src/db/embedded/open.ts';

/** Two embedded PostgreSQLs; one follows the other by streaming replication. */
export interface Pair {
  readonly primary: EmbeddedDatabase;
  /** Its last started process. */
  readonly replica: EmbeddedDatabase;
  /** kill -9 of the primary's postmaster; its processes end with it. */
  killPrimary(): Promise<void>;
  /** The same for the replica. */
  killReplica(): Promise<void>;
  /**
   * Starts the replica again, after it was killed or promoted. Without `following` it serves its current data and
   * receives nothing more.
   */
  startReplica(options?: { following: boolean }): Promise<void>;
  /** Runs a statement as superuser. */
  query(where: 'primary' | 'replica', statement: string): Promise<void>;
  /** Promotes the replica; resolves when it takes writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

/** Payhook's own settings, and those for replication. */
const ACCESS_RULES = 'local all all scram-sha-256\nlocal replication all scram-sha-256\n';

interface PairOptions {
  /** The primary commits nothing before the replica has it on its disk. */
  readonly synchronous: boolean;
  /** More settings of both. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a pair. */
export async function startPair({ synchronous, settings = {} }: PairOptions): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-pair-'));
  const rules = join(folder, 'rules.conf');
  writeFileSync(rules, ACCESS_RULES);
  const [first, second] = [join(folder, 'a'), join(folder, 'b')];
  await (await openEmbedded({ dataDir: first, purpose: 'serve' })).close();
  // a copy of a stopped primary is a replica that has read everything so far
  cpSync(first, second, { recursive: true, filter: (path) => !path.startsWith(join(first, 'run')) });
  writeFileSync(join(second, 'postgres', 'standby.signal'), '');
  const names = synchronous ? '*' : '';
  const ofPrimary = { ...settings, hba_file: rules, synchronous_standby_names: names };
  const primary = await openEmbedded({ dataDir: first, purpose: 'serve', settings: ofPrimary });
  const { host, port, user, password } = primary.superuser;
  const conninfo = `host=${host} port=${port} user=${user} password=${password}`;
  const openReplica = (following: boolean) =>
    openEmbedded({
      dataDir: second,
      purpose: 'serve',
      settings: { ...settings, primary_conninfo: following ? conninfo : '', hot_standby: 'on' },
    });
  let replica = await openReplica(true);
  const query = async (where: 'primary' | 'replica', statement: string) => {
    const client = new pg.Client({ ...(where === 'primary' ? primary : replica).superuser });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  const kill = async (dataDir: string, { exited }: EmbeddedDatabase) => {
    const pid = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
    process.kill(Number.parseInt(pid, 10), 'SIGKILL');
    await exited;
  };
  return {
    primary,
    get replica() {
      return replica;
    },
    killPrimary: () => kill(first, primary),
    killReplica: () => kill(second, replica),
    async startReplica({ following } = { following: true }) {
      await replica.close();
      writeFileSync(join(second, 'postgres', 'standby.signal'), '');
      replica = await openReplica(following);
    },
    query,
    promote: () => query('replica', 'select pg_promote()'),
    async close() {
      await replica.close();
      await primary.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
