import type { Tx } from '../../db/connect.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import type { BadLine, Cells } from '../files/csv-import.ts';

/**
 * A record beside the affiliate, such as where they are paid, that the lines of a file can set. Its room knows the record,
 * so the import of affiliates is given it.
 */
export interface ImportPart {
  /** The columns of a file that belong to it alone. */
  readonly columns: readonly string[];
  /** The column of `staged` that has the record of a line as JSON, its numbers sealed; null = the line says nothing. */
  readonly staged: string;
  /** Reads the record of a line. Throws CellError with every rule that the line breaks. */
  read(cells: Cells): string | null;
  /**
   * Finds lines that do not go with the record there is, and takes them out of `staged`. Messages start with a column, as
   * those of a CellError.
   */
  refuse?(tx: Tx, file: ImportedFile): Promise<readonly BadLine[]>;
  /**
   * Writes the records of affiliates that are there (`staged.affiliate_id`), set-based. Lines that change something go to
   * `touched` (line, redirects). The caller has locked the books.
   */
  write(tx: Tx, file: ImportedFile): Promise<void>;
}

/** The file whose records are written. */
export interface ImportedFile {
  readonly account: AccountId;
  readonly header: ReadonlySet<string>;
  readonly importId: ImportId | null;
}
