import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { openPlatform, type Platform } from '../../src/app/platform.ts';
import { readConfig } from '../../src/kernel/config.ts';

/** A new database that no program uses. */
export interface UnusedDatabase {
  /** Starts the program on it, with a data folder of this name. */
  start(name: string, secretKey?: string): Promise<Platform>;
  /** Rows of a statement as superuser. */
  query<Row>(text: string): Promise<Row[]>;
  /** Stops the started processes and drops the database. */
  drop(): Promise<void>;
}

/** Creates one without a schema on the PostgreSQL of the run. */
export const emptyDatabase = () => unusedDatabase(`template0 encoding 'UTF8'`);

/** Creates one as the program leaves it after its first start. */
export async function migratedDatabase(): Promise<UnusedDatabase> {
  const { cluster, templates } = inject('postgres');
  if (!cluster) return unusedDatabase(`${templates[0].name} strategy file_copy`);
  // a template of the cluster is in several databases
  const database = await emptyDatabase();
  await database.start('first');
  return database;
}

async function unusedDatabase(template: string): Promise<UnusedDatabase> {
  const postgres = inject('postgres');
  const database = `payhook_start_${randomBytes(8).toString('hex')}`;
  const folder = mkdtempSync(join(tmpdir(), 'payhook-start-'));
  const opened: Platform[] = [];
  const asSuperuser = async <Row>(name: string, text: string) => {
    const { host, port, superuser, superuserPassword } = postgres;
    const client = new pg.Client({
      host,
      port,
      user: superuser,
      database: name,
      ...(superuserPassword ? { password: superuserPassword } : {}),
    });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  };
  await asSuperuser('postgres', `create database ${database} owner ${postgres.user} template ${template}`);
  return {
    query: (text) => asSuperuser(database, text),
    async start(name, secretKey = postgres.secretKey) {
      const config = readConfig({ DATA_DIR: join(folder, name), SECRET_KEY: secretKey, LOG_LEVEL: 'silent' });
      const platform = await openPlatform(config, { purpose: 'command', target: { ...postgres, database } });
      opened.push(platform);
      return platform;
    },
    async drop() {
      for (const platform of opened) await platform.close();
      await asSuperuser('postgres', `drop database ${database} with (force)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
