import type { Tx } from '../../db/database.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import type { BadLines, Cells } from './csv-import.ts';

/**
 * A record of an affiliate, such as the payout destination, that the lines of a file can set. Its room knows the record,
 * so the import of affiliates is given it.
 */
export interface ImportPart {
  /** The columns of a file that belong to it alone. */
  readonly columns: readonly string[];
  /** The column of `staged` that has the record of a line as JSON, its numbers sealed; null = the line says nothing. */
  readonly staged: string;
  /**
   * Finds lines that do not go with the record there is, takes them out of `staged` and adds them to `bad`. Messages start with
   * a column, as those of a CellError.
   */
  refuse?(tx: Tx, file: ImportedFile, bad: BadLines): Promise<void>;
  /**
   * Writes the records of affiliates that are there (`staged.affiliate_id`), set-based. Lines that change something go to
   * `touched` (line, redirects), affiliates who are paid elsewhere since to `redirected`. The caller has locked the books.
   */
  write(tx: Tx, file: ImportedFile): Promise<void>;
}

/** What reads such a record from the cells of a line, in a thread. */
export interface PartReader extends Pick<ImportPart, 'columns' | 'staged'> {
  /** Throws CellError with every rule that the line breaks. */
  read(cells: Cells): string | null;
}

/** The file whose records are written. */
export interface ImportedFile {
  readonly account: AccountId;
  readonly header: ReadonlySet<string>;
  readonly importId: ImportId | null;
}
