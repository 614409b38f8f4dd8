import { encodingOfStart, utf8Check } from '../../kernel/csv-bytes.ts';
import { CsvError } from '../../kernel/csv-refusal.ts';
import { formatOfPaymentFile } from '../../terms/payments.ts';
import { Answers, type ReadResult, ResultFileError, type ResultKind } from './answers.ts';
import { readCamt } from './camt.ts';
import { readNacha } from './nacha.ts';
import { isNacha } from './nacha-records.ts';
import { isOwnList, isSurelyOwnList, ownListReader } from './own-list.ts';
import { readPain002 } from './pain002.ts';
import { isPaypal, paypalReader } from './paypal.ts';
import { type Header, type LineReader, readTable } from './table.ts';
import { readVerificationList } from './verification-list.ts';
import { isWiseHistory, isWiseStatement, wiseHistoryReader, wiseStatementReader } from './wise.ts';

const ACCEPTED =
  'a statement or notification of a bank (camt.053, camt.054), a status report (pain.002), returns in a NACHA file, the result file of ' +
  'PayPal or Wise, a list of verifications of payees (JSON), or a CSV file with the column reference or affiliate_id';

/** The XML encodings that banks declare, as TextDecoder names them. */
const ENCODINGS = new Set(['utf-8', 'us-ascii', 'iso-8859-1', 'iso-8859-15', 'windows-1252']);

/**
 * Reads a file with the results of payments. Its kind is recognised by its bytes. `ignored` names columns of your own
 * list to ignore. Throws ResultFileError, also for a file of another kind.
 */
export function readResultFile(bytes: Buffer, ignored: readonly string[] = []): ReadResult {
  if (bytes.length === 0) throw new ResultFileError('the file is empty');
  const beginning = beginningOf(bytes);
  const isMessage = beginning.startsWith('<');
  const isAch = isNacha(beginning);
  const isJson = beginning.startsWith('{');
  if ((isMessage || isAch || isJson) && ignored.length > 0) throw notAList();
  if (isAch) return readNacha(bytes.toString('latin1').trimStart());
  if (isJson) return readVerificationList(utf8Of(bytes));
  return isMessage ? readMessage(bytes) : readCsv(bytes, ignored);
}

function utf8Of(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ResultFileError('the JSON has bytes that are not UTF-8');
  }
}

const notAList = () =>
  new ResultFileError('ignore_columns is only for a list of your own, and this file is not one');

/** The first characters, in any encoding. */
const beginningOf = (bytes: Buffer) =>
  bytes
    .subarray(0, 400)
    .toString('latin1')
    .replace(/^(\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/, '')
    .replaceAll('\0', '')
    .trimStart();

function readMessage(bytes: Buffer): ReadResult {
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
      "this is a pain.001, the file that was sent to the bank: use the bank's answer",
    );
  throw new ResultFileError(`the XML is not one of the supported messages: ${ACCEPTED}`);
}

function textOfXml(bytes: Buffer): string {
  const found = encodingOfStart(bytes);
  const [, declared = 'utf-8'] =
    /^[^>]{0,120}encoding\s{0,9}=\s{0,9}["']([\w-]+)["']/.exec(beginningOf(bytes)) ?? [];
  const label = found?.encoding.startsWith('utf-16') ? found.encoding : declared.toLowerCase();
  if (!ENCODINGS.has(label) && !label.startsWith('utf-16'))
    throw new ResultFileError(`the XML is in ${declared}, which is not supported: save it as UTF-8`);
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    throw new ResultFileError(`the file has bytes that are not ${label.toUpperCase()}: is it damaged?`);
  }
}

/** The reader of a CSV file, chosen by its header, or null. Throws ResultFileError. */
function readerOf(
  header: Header,
  found: Answers,
  ignored: readonly string[],
): { readonly kind: ResultKind; readonly reader: LineReader } | null {
  if (isSurelyOwnList(header)) return { kind: 'paid_list', reader: ownListReader(header, found, ignored) };
  const ofProvider = isWiseStatement(header)
    ? { kind: 'wise' as const, start: wiseStatementReader }
    : isWiseHistory(header)
      ? { kind: 'wise' as const, start: wiseHistoryReader }
      : isPaypal(header)
        ? { kind: 'paypal' as const, start: paypalReader }
        : null;
  if (ofProvider !== null) {
    if (ignored.length > 0) throw notAList();
    return { kind: ofProvider.kind, reader: ofProvider.start(header, found) };
  }
  return isOwnList(header) ? { kind: 'paid_list', reader: ownListReader(header, found, ignored) } : null;
}

function readCsv(bytes: Buffer, ignored: readonly string[]): ReadResult {
  const found = new Answers();
  let kind: ResultKind | null = null;
  try {
    const begin = encodingOfStart(bytes);
    const check = utf8Check();
    const isUtf8 = check(bytes, false) && check(Buffer.alloc(0), true);
    const encoding = begin?.encoding ?? (isUtf8 ? 'utf-8' : 'windows-1252');
    const text = new TextDecoder(encoding).decode(bytes.subarray(0, 1 << 14));
    refuseSent(text);
    const isRead = readTable(bytes, { text, encoding }, (header) => {
      const chosen = readerOf(header, found, ignored);
      kind = chosen?.kind ?? null;
      return chosen?.reader ?? null;
    });
    if (isRead && kind !== null) return found.of(kind);
  } catch (error) {
    throw error instanceof CsvError ? new ResultFileError(error.message) : error;
  }
  throw new ResultFileError(`the file is of no supported kind: ${ACCEPTED}`);
}

/** Throws ResultFileError for a payment file: it lists payees, but no results. */
function refuseSent(text: string): void {
  const format = formatOfPaymentFile(text);
  const to = format === 'paypal' ? 'PayPal' : format?.startsWith('wise') ? 'Wise' : null;
  if (to !== null)
    throw new ResultFileError(
      `this is the payment file that was sent to ${to}: it says who is to be paid. Use the answer of ${to}`,
    );
}
