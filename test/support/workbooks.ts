import { crc32, deflateRawSync } from 'node:zlib';

/** A zip archive (APPNOTE 6.3) of these files. */
export function zip(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const title = Buffer.from(name);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(8, 4);
    about.writeUInt32LE(crc32(bytes), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(bytes.length, 18);
    about.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, title, packed]);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), about, end, title]));
    parts.push(local);
    at += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, list, Buffer.from('PK\x05\x06'), end]);
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A cell of Excel: a text, a number as it is stored with its format, or XML of its own. */
export type XlsxCell =
  | string
  | null
  | { readonly value: string; readonly format: string }
  | { readonly xml: string };

export interface XlsxSheet {
  readonly name: string;
  readonly rows: readonly (readonly XlsxCell[])[];
  /** Rows, from 1. */
  readonly hiddenRows?: readonly number[];
  /** Columns, from 1. */
  readonly hiddenColumns?: readonly number[];
  readonly merged?: readonly string[];
  readonly state?: 'hidden';
}

export const number = (value: string, format = 'General') => ({ value, format });

function letters(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest === 0 ? '' : letters(rest - 1)) + String.fromCharCode(65 + (column % 26));
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const relations = (...targets: readonly (readonly [type: string, target: string])[]) =>
  `<Relationships xmlns="${RELATIONS}">${targets
    .map(
      ([type, target], index) =>
        `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
    )
    .join('')}</Relationships>`;

/** The parts of an Excel workbook (ECMA-376). */
export function xlsxParts(
  sheets: readonly XlsxSheet[],
  { is1904 = false, type = 'sheet.main' } = {},
): Record<string, string | Buffer> {
  const formats: string[] = ['General'];
  const texts: string[] = [];
  const indexIn = (list: string[], value: string) => {
    if (!list.includes(value)) list.push(value);
    return list.indexOf(value);
  };
  const cellXml = (cell: XlsxCell, name: string): string => {
    if (cell === null) return '';
    if (typeof cell === 'string') return `<c r="${name}" t="s"><v>${indexIn(texts, cell)}</v></c>`;
    if ('xml' in cell) return cell.xml.replace('<c', `<c r="${name}"`);
    return `<c r="${name}" s="${indexIn(formats, cell.format)}"><v>${cell.value}</v></c>`;
  };
  const parts: Record<string, string> = {};
  for (const [index, sheet] of sheets.entries()) {
    const rows = sheet.rows.map((cells, row) => {
      const hidden = sheet.hiddenRows?.includes(row + 1) ? ' hidden="1"' : '';
      return `<row r="${row + 1}"${hidden}>${cells.map((cell, column) => cellXml(cell, letters(column) + (row + 1))).join('')}</row>`;
    });
    const columns = (sheet.hiddenColumns ?? []).map((at) => `<col min="${at}" max="${at}" hidden="1"/>`);
    const merged = (sheet.merged ?? []).map((range) => `<mergeCell ref="${range}"/>`);
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `<worksheet xmlns="${MAIN}">${columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`}` +
      `<sheetData>${rows.join('')}</sheetData>` +
      `${merged.length === 0 ? '' : `<mergeCells>${merged.join('')}</mergeCells>`}</worksheet>`;
  }
  const listed = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${escaped(name)}" sheetId="${index + 1}"${state ? ` state="${state}"` : ''} r:id="rId${index + 1}"/>`,
  );
  const content = `application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml`;
  return {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/xl/workbook.xml" ContentType="${content}"/></Types>`,
    '_rels/.rels': relations(['officeDocument', 'xl/workbook.xml']),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      ...sheets.map((_, index) => ['worksheet', `worksheets/sheet${index + 1}.xml`] as const),
      ['styles', 'styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ),
    ...parts,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${formats
      .map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escaped(code)}"/>`)
      .join(
        '',
      )}</numFmts><cellStyleXfs><xf numFmtId="0"/></cellStyleXfs><cellXfs>${formats.map((_, index) => `<xf numFmtId="${164 + index}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${texts.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
  };
}

/** An Excel workbook. */
export const xlsx = (sheets: readonly XlsxSheet[], options?: Parameters<typeof xlsxParts>[1]): Buffer =>
  zip(xlsxParts(sheets, options));

/** An Excel workbook with one sheet. */
export const oneSheet = (...rows: XlsxSheet['rows']): Buffer => xlsx([{ name: 'Sheet1', rows }]);

const ODS_NAMES = ['office', 'table', 'text', 'style', 'calcext']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');

/** An OpenDocument spreadsheet (ODF 1.3) whose tables are the XML of their rows. */
export const ods = (tables: Readonly<Record<string, string>>, manifest = ''): Buffer =>
  zip({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${ODS_NAMES}><office:body><office:spreadsheet>${Object.entries(
      tables,
    )
      .map(([name, rows]) => `<table:table table:name="${escaped(name)}">${rows}</table:table>`)
      .join('')}</office:spreadsheet></office:body></office:document-content>`,
    'META-INF/manifest.xml': `<manifest>${manifest}</manifest>`,
  });

/** A row of texts in an OpenDocument spreadsheet, or of XML of their own. */
export const odsRow = (...cells: readonly string[]): string =>
  `<table:table-row>${cells
    .map((cell) =>
      cell.startsWith('<')
        ? cell
        : `<table:table-cell office:value-type="string"><text:p>${escaped(cell)}</text:p></table:table-cell>`,
    )
    .join('')}</table:table-row>`;
