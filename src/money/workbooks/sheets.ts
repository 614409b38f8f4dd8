import { quote } from '../../kernel/csv-refusal.ts';
import { nameSome } from '../../kernel/errors.ts';
import { WorkbookError } from './workbook-error.ts';

/** A sheet of a workbook. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/** The name of the sheet to read: `wanted`, else the first visible one. Throws WorkbookError when there is none. */
export function chosenSheet(sheets: readonly Sheet[], wanted: string | null): string {
  const sheet =
    wanted === null
      ? sheets.find(({ isHidden }) => !isHidden)
      : (sheets.find(({ name }) => name === wanted) ??
        sheets.find(({ name }) => name.toLowerCase() === wanted.toLowerCase()));
  if (sheet) return sheet.name;
  if (wanted === null) throw new WorkbookError('the workbook has no visible sheet');
  throw noSheet(sheets, wanted);
}

export const noSheet = (sheets: readonly Sheet[], wanted: string): WorkbookError =>
  new WorkbookError(
    `the workbook has no sheet ${quote(wanted)}; it has ${nameSome(sheets.map(({ name }) => quote(name)))}`,
  );
