import { finished } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import sql, { raw, type Sql } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { ImportId } from '../../kernel/ids.ts';
import { BadLines, type CsvFormat, type FoundBad, type ReadFile } from './csv-import.ts';

/** What the readers of a format need to know of the account. */
export interface ReaderSettings {
  /** For amounts without a currency. */
  readonly currency: string;
  /** For times without a zone. */
  readonly zone: string;
}

/**
 * Reads the lines of the file of a request in a thread. `take` gets the good ones as rows of COPY. `mostBad` bad lines are kept.
 * Throws as `readLines`, and `too_much_work`.
 */
export type LineReader = (
  settings: ReaderSettings,
  mostBad: number | undefined,
  take: (rows: string) => Promise<void>,
) => Promise<ReadFile & { readonly bad: FoundBad }>;

/** A file that was read into the table `staged`. */
export interface StagedFile {
  readonly header: ReadonlySet<string>;
  readonly lines: number;
  readonly skipped: number;
  readonly bad: BadLines;
}

/**
 * Streams a file through a thread into the temporary table `staged`, in constant memory. `staged` names the columns of the
 * format. Throws as LineReader.
 */
export async function stageCsv(
  tx: Tx,
  { read, mostBad }: Pick<ImportRequest, 'read' | 'mostBad'>,
  staged: CsvFormat['staged'],
  settings: ReaderSettings,
): Promise<StagedFile> {
  const columns = staged.map(([name, type]) => `${name} ${type}`).join(', ');
  await rows(tx, raw(`create temporary table staged (line int not null, ${columns}) on commit drop`));
  let copy: Copy | undefined;
  // begun with the first rows: PostgreSQL ends a COPY that it hears nothing of, and a thread has to start first
  const take = (text: string) => {
    copy ??= beginCopy(tx);
    return copy.write(text);
  };
  try {
    const { columns: header, lines, skipped, bad } = await read(settings, mostBad, take);
    await copy?.end();
    await rows(tx, raw('analyze staged'));
    return { header: new Set(header), lines, skipped, bad: new BadLines(mostBad, bad) };
  } catch (error) {
    await copy?.fail(error as Error);
    throw error;
  }
}

interface Copy {
  /** Waits until there is room for more. An empty text says that there will be. Throws what PostgreSQL refuses. */
  write(text: string): Promise<void>;
  end(): Promise<void>;
  /** Ends it without the rows, so that the connection is free for the next statement. */
  fail(error: Error): Promise<void>;
}

function beginCopy(tx: Tx): Copy {
  const target = tx.copyIn('copy staged from stdin');
  let refused = false;
  const copied = finished(target);
  copied.catch(() => {
    refused = true;
  });
  return {
    async write(text) {
      const written = new Promise<void>((resolve, reject) => {
        target.write(text, (error) => (error ? reject(error) : resolve()));
      });
      // after PostgreSQL refused or went away a write fails for another reason than the COPY did
      const refusal = written.catch(async (error: unknown) => {
        await copied;
        throw error;
      });
      refusal.catch(() => undefined);
      await Promise.race([refusal, copied]);
    },
    async end() {
      target.end();
      await copied;
    },
    async fail(error) {
      if (!refused) target.destroy(error);
      await copied.catch(() => undefined);
    },
  };
}

/** What a statement found wrong with lines of `staged`. */
interface FoundLines<Row extends { readonly line: number }> {
  /** Selects a row for each bad line, with the column `line`. */
  readonly found: Sql;
  /** The columns selected for the listed rows `f`, and what is joined to them; default: all columns of `f`. */
  readonly reported?: { readonly columns: Sql; readonly joined: Sql };
  readonly messagesOf: (row: Row) => readonly string[];
}

/** After this many lines other requests are served. */
const LINES_AT_ONCE = 1000;

/**
 * Takes bad lines out of `staged`, and adds them to `bad` by line number. Only those that are listed leave the database: of a
 * hundred thousand, that is the first thousand.
 */
export async function takeOutBad<Row extends { readonly line: number }>(
  tx: Tx,
  bad: BadLines,
  { found, reported = { columns: sql`f.*`, joined: sql`` }, messagesOf }: FoundLines<Row>,
): Promise<void> {
  const { room } = bad;
  const lines = await rows<Row & { readonly all_lines: number }>(
    tx,
    sql`with found as materialized (${found}),
        gone as (delete from staged where line in (select line from found))
        select ${reported.columns}, (select count(*)::int from found) as all_lines
        from found f ${reported.joined} order by f.line limit ${Math.max(1, room)}`,
  );
  const listed = room === 0 ? [] : lines;
  for (const [index, row] of listed.entries()) {
    if (index % LINES_AT_ONCE === LINES_AT_ONCE - 1) await setImmediate();
    bad.add(row.line, ...messagesOf(row));
  }
  bad.addUnlisted((lines[0]?.all_lines ?? 0) - listed.length);
}

/** The result of an import, or of its dry run. */
export interface ImportOutcome {
  /** Lines read, good and bad. */
  readonly lines: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Lines skipped because their status says that they are not owed. */
  readonly skipped: number;
  /** Lines that got a payout method because they have a PayPal address and no method. */
  readonly methodsSet?: number;
  /** Sums of the good lines. */
  readonly totals: { readonly currency: string; readonly amount: number; readonly count: number }[];
  readonly bad: BadLines;
}

/** What an import is doing: finding out how to read the file, reading it, or writing what was read. */
export type Stage = 'looking' | 'reading' | 'writing';

/** The input of an import. */
export interface ImportRequest {
  /** Called as each stage begins. */
  readonly enter: (stage: Stage) => Promise<void>;
  readonly dryRun: boolean;
  readonly partial: boolean;
  readonly read: LineReader;
  /** The columns that a file of another layout provides; null for our own format. */
  readonly provided: readonly string[] | null;
  /** The import that created and changed records belong to; null in a dry run. */
  readonly importId: ImportId | null;
  /** The number of bad lines to keep, by default 1,000. */
  readonly mostBad?: number;
}

/** Throws `invalid_lines` naming the first bad lines. */
export function refuseBadLines(bad: BadLines, lines: number): never {
  const shown = bad.first().slice(0, 20);
  const rest = bad.count - shown.length;
  const list = shown.map(({ line, message }) => `line ${line}: ${message}`).join('; ');
  throw fail(
    'invalid_lines',
    `${bad.count} of ${lines} lines are bad, nothing was written: ${list}${rest > 0 ? `; and ${rest} more` : ''}`,
  );
}
