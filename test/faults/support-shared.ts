import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { cellOfFile, type TestCell, tablesOf } from '../support/cell-of-file.ts';
import { urlOf } from '../support/database-url.ts';
import { asAdmin } from '../support/world.ts';
import type { SharedDatabase } from './support-server.ts';

/**
 * Creates a database on the PostgreSQL of the test run, for processes that share it; `port` is that of a proxy on this
 * machine through which they reach it. An empty one gets its schema and its first key from the process that starts
 * first.
 */
export async function sharedDatabase({
  port,
  isEmpty = false,
  cell = isEmpty ? 0 : cellOfFile(),
}: {
  port?: number;
  isEmpty?: boolean;
  /** The cell of the account whose key is used; default: that of the test file (cellOfFile). */
  cell?: TestCell;
} = {}): Promise<SharedDatabase & { drop(): Promise<void> }> {
  const { user, password, superuser, superuserPassword, ...postgres } = inject('postgres');
  const name = `payhook_fault_${randomBytes(8).toString('hex')}`;
  const login = superuserPassword ? { password: superuserPassword } : {};
  await asAdmin(
    `create database ${name} owner ${user} template ${isEmpty ? `template0 encoding 'UTF8'` : `${postgres.templates[cell].name} strategy file_copy`}`,
  );
  const at = port === undefined ? postgres : { host: '127.0.0.1', port };
  return {
    url: urlOf({ ...at, user, password, database: name }),
    secretKey: postgres.secretKey,
    apiKey: postgres.templates[cell].key,
    superuser: {
      ...{ host: postgres.host, port: postgres.port, database: name, user: superuser, ...login },
      ...tablesOf(cell),
    },
    drop: () => asAdmin(`drop database ${name} with (force)`),
  };
}
