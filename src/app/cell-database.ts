import type { Logger } from 'pino';
import { CellError } from '../cells/accounts.ts';
import { hasDirectory, readDirectory } from '../cells/directory.ts';
import { targetOf } from '../cells/open.ts';
import { createSchema, installationOf, strangerProblem } from '../cells/schemas.ts';
import { connect } from '../db/connect.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Config } from '../kernel/config.ts';
import { vaultOf } from '../kernel/vault.ts';
import { openDatabase } from './database.ts';
import { heldKeys } from './secret-keys.ts';

/**
 * Connects the database of a cell other than 0, whatever it contains, and creates its schema if it is missing: at `url`, or where the
 * directory says (null). `verify` throws CellError unless the rows are those of the cell. Throws CellError if the directory does not
 * have the cell, or if Citus has nodes there and the cell has no login of its own.
 */
export async function openCellDatabase(
  config: Config,
  { number, url, log }: { number: number; url: string | null; log: Logger },
): Promise<{ db: Database; verify(tx: Tx): Promise<void>; close(): Promise<void> }> {
  const first = await openDatabase(config, { purpose: 'command', log, onlyExisting: true });
  try {
    if (!(await hasDirectory(first.db.reader))) {
      throw new CellError('there is no directory of cells: restore cell 0 first, and run payhook migrate');
    }
    const row = (
      await readDirectory(
        first.db.reader,
        vaultOf(() => heldKeys(config)),
      )
    ).find((each) => each.number === number && each.state !== 'closed');
    if (row === undefined) throw new CellError(`there is no cell ${number}: payhook cells list shows all`);
    if (url === null && row.urlProblem !== null) {
      throw new CellError(`the URL of cell ${number} cannot be decrypted: ${row.urlProblem}`);
    }
    const installation = await installationOf(first.db);
    const { connecting } = first;
    const target = targetOf(connecting, url === null ? row : { url, listenUrl: null });
    const db = connect({ ...connecting, ...target, poolSize: 1, cell: { number, schema: row.schema } });
    if (row.schema !== null && !(await createSchema(db, row.schema))) {
      await db.close();
      throw new CellError(
        'Citus places each cell on a node, where only a login of its own can select the schema; this cell has none',
      );
    }
    return {
      db,
      async verify(tx) {
        const problem = await strangerProblem(tx, number, installation);
        if (problem !== null) throw new CellError(`the backup is of another cell: ${problem}`);
      },
      async close() {
        await db.close();
        await first.close();
      },
    };
  } catch (error) {
    await first.close();
    throw error;
  }
}
