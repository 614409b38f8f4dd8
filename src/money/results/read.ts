import { encodingOfStart, utf8Check } from '../../kernel/csv-bytes.ts';
import { CsvError } from '../../kernel/csv-refusal.ts';
import { type ReadResult, ResultFileError } from './answers.ts';
import { readCamt } from './camt.ts';
import { readList } from './lists.ts';
import { readPain002 } from './pain002.ts';

const ACCEPTED =
  'a statement or notification of a bank (camt.053, camt.054), a status report (pain.002), the result file of PayPal or Wise, ' +
  'or a CSV file with the column reference or affiliate_id';

/** The encodings that XML of banks declares, as TextDecoder knows them. */
const ENCODINGS = new Set(['utf-8', 'us-ascii', 'iso-8859-1', 'iso-8859-15', 'windows-1252']);

/**
 * Reads a file that says what became of payments: which kind it is, is told from its bytes. Throws ResultFileError, also for a
 * file of another kind.
 */
export async function readResultFile(bytes: Buffer): Promise<ReadResult> {
  if (bytes.length === 0) throw new ResultFileError('the file is empty');
  const start = beginningOf(bytes);
  return start.startsWith('<') ? readMessage(bytes) : readTable(bytes);
}

/** The first characters, in whatever encoding. */
const beginningOf = (bytes: Buffer) =>
  bytes
    .subarray(0, 400)
    .toString('latin1')
    .replace(/^(\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/, '')
    .replaceAll('\0', '')
    .trimStart();

function readMessage(bytes: Buffer): Promise<ReadResult> {
  const text = textOfXml(bytes);
  const [message] =
    /<(?:\w+:)?(?:BkToCstmrStmt|BkToCstmrDbtCdtNtfctn|BkToCstmrAcctRpt|CstmrPmtStsRpt|CstmrCdtTrfInitn)[\s>]/.exec(
      text,
    ) ?? [''];
  const name = message.slice(1, -1).replace(/^.*:/, '');
  if (name === 'BkToCstmrStmt') return readCamt(text, 'camt.053');
  if (name === 'BkToCstmrDbtCdtNtfctn') return readCamt(text, 'camt.054');
  if (name === 'CstmrPmtStsRpt') return readPain002(text);
  if (name === 'BkToCstmrAcctRpt')
    throw new ResultFileError('a camt.052 is an interim report, in which nothing is final: use the camt.053');
  if (name === 'CstmrCdtTrfInitn')
    throw new ResultFileError(
      'this is a pain.001, the file that was sent to the bank: use what the bank answered',
    );
  throw new ResultFileError(`the XML is none of the messages that are read: ${ACCEPTED}`);
}

function textOfXml(bytes: Buffer): string {
  const found = encodingOfStart(bytes);
  const [, declared = 'utf-8'] = /^[^>]{0,120}encoding\s*=\s*["']([\w-]+)["']/.exec(beginningOf(bytes)) ?? [];
  const label = found?.encoding.startsWith('utf-16') ? found.encoding : declared.toLowerCase();
  if (!ENCODINGS.has(label) && !label.startsWith('utf-16'))
    throw new ResultFileError(`the XML is in ${declared}, which is not read: save it as UTF-8`);
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    throw new ResultFileError(`the file has bytes that are not ${label.toUpperCase()}: is it damaged?`);
  }
}

async function readTable(bytes: Buffer): Promise<ReadResult> {
  try {
    const found = encodingOfStart(bytes);
    const check = utf8Check();
    const isUtf8 = check(bytes, false) && check(Buffer.alloc(0), true);
    const encoding = found?.encoding ?? (isUtf8 ? 'utf-8' : 'windows-1252');
    const start = new TextDecoder(encoding).decode(bytes.subarray(0, 1 << 14));
    const list = await readList(bytes, start, encoding);
    if (list !== null) return list;
  } catch (error) {
    throw error instanceof CsvError ? new ResultFileError(error.message) : error;
  }
  throw new ResultFileError(`the file is none of those that are read: ${ACCEPTED}`);
}
