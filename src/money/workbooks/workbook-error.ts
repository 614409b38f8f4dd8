/** A workbook that cannot be read; the message is for the person who sent it. */
export class WorkbookError extends Error {
  override name = 'WorkbookError';
}
