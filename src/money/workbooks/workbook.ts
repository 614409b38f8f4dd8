import { headOf, piecesOf, type SharedFile } from '../../threads/file-pieces.ts';
import { readOds } from './ods.ts';
import { type SheetFacts, SheetText } from './sheet-text.ts';
import type { Sheet } from './sheets.ts';
import { WorkbookError } from './workbook-error.ts';
import { readXlsx } from './xlsx.ts';
import { type Archive, openArchive, PASSWORD } from './zip.ts';

/** A workbook, one sheet of which was written as CSV. */
export interface Workbook extends SheetFacts {
  readonly sheets: readonly Sheet[];
  /** The name of the sheet that was read. */
  readonly sheet: string;
}

const ZIP = '504b0304';
const OLE = 'd0cf11e0';
/** At most this number of sheets is read to find one that is not empty. */
const MOST_TRIED = 10;
/** The stream of an encrypted workbook. */
const PROTECTED = Buffer.from('EncryptedPackage', 'utf16le');

/** Whether a file may be a workbook by its first bytes, or is in the container of an old or protected one. */
export const looksLikeWorkbook = (file: SharedFile): boolean => [ZIP, OLE].includes(beginOf(file));

const beginOf = (file: SharedFile) => headOf(file, 4).toString('hex');

/**
 * Writes a sheet of a workbook (.xlsx or .ods) to the file `target` as CSV in UTF-8: every row of the sheet is a line, every
 * cell is written as the sheet shows it, but numbers without thousands separators and days as `2026-09-01`. `wanted` is the
 * name of the sheet; null = the first visible one that is not empty. Throws WorkbookError.
 */
export async function writeSheet(file: SharedFile, target: number, wanted: string | null): Promise<Workbook> {
  refuseOld(file);
  const archive = await openArchive(file.descriptor);
  const reader = await readerOf(archive);
  const read = async (name: string | null) => {
    const text = new SheetText(target);
    return { ...(await reader(archive, name, text)), ...text.end() };
  };
  const first = await read(wanted);
  if (first.width > 0) return first;
  // nothing was written of an empty sheet
  const others = first.sheets.filter(
    ({ name, isHidden }) => wanted === null && !isHidden && name !== first.sheet,
  );
  for (const { name } of others.slice(0, MOST_TRIED)) {
    const other = await read(name);
    if (other.width > 0) return other;
  }
  throw new WorkbookError(`the sheet ${JSON.stringify(first.sheet)} is empty`);
}

/** Refuses the container of .xls files and of workbooks with a password: MS-CFB, MS-OFFCRYPTO. */
function refuseOld(file: SharedFile): void {
  if (beginOf(file) !== OLE) return;
  let before: Buffer = Buffer.alloc(0);
  let isProtected = false;
  for (const piece of piecesOf(file)) {
    isProtected ||= Buffer.concat([before, piece]).includes(PROTECTED);
    before = piece.subarray(-PROTECTED.length);
  }
  throw new WorkbookError(
    isProtected
      ? PASSWORD
      : 'the file is in an old format of Excel (.xls): save it as an Excel workbook (.xlsx)',
  );
}

const MACROS =
  'the workbook contains macros, which are refused: save it as an Excel workbook without macros (.xlsx), or as CSV';

async function readerOf(archive: Archive): Promise<typeof readXlsx> {
  const has = (pattern: RegExp) => archive.names.some((name) => pattern.test(name));
  if (has(/(^|\/)vbaproject\.bin$/) || has(/^(basic|scripts)\//)) throw new WorkbookError(MACROS);
  if (has(/^xl\/workbook\.bin$/))
    throw new WorkbookError('the file is a binary workbook (.xlsb): save it as an Excel workbook (.xlsx)');
  if (has(/^\[content_types\]\.xml$/)) {
    const types = await textOf(archive, '[Content_Types].xml');
    if (/macroEnabled/i.test(types)) throw new WorkbookError(MACROS);
    if (/spreadsheetml/.test(types)) return readXlsx;
  }
  if (has(/^content\.xml$/)) {
    const type = has(/^mimetype$/) ? await textOf(archive, 'mimetype') : '';
    if (
      has(/^meta-inf\/manifest\.xml$/) &&
      /encryption-data/.test(await textOf(archive, 'META-INF/manifest.xml'))
    )
      throw new WorkbookError(PASSWORD);
    if (/opendocument\.spreadsheet/.test(type)) return readOds;
  }
  if (has(/^index\/.*\.iwa$/))
    throw new WorkbookError('the file is of Apple Numbers: export it as Excel or CSV');
  throw new WorkbookError('the file is a zip archive and no workbook: unpack it, and send the file inside');
}

/** The beginning of a small part. */
async function textOf(archive: Archive, name: string): Promise<string> {
  let text = '';
  for await (const piece of archive.text(name)) {
    text += piece;
    if (text.length > 2 ** 20) break;
  }
  return text;
}
