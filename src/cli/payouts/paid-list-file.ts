import type { PayoutLine } from '../../client/client.ts';
import { type CsvLine, csvReader } from '../../kernel/csv.ts';
import { CsvError } from '../../kernel/csv-refusal.ts';
import { formatDecimal, normalizeCurrency, parseDecimal } from '../../kernel/money.ts';
import { paymentReference, readPaymentReference } from '../../terms/payment-reference.ts';
import { formatOfPaymentFile, type ProviderFormat, rowsOf } from '../../terms/payments.ts';
import { toPay } from '../../terms/with-tax.ts';
import { CommandError } from '../command/errors.ts';
import type { ListedEntry } from './paid-list.ts';

/** A payment in a file. */
interface Payment {
  readonly affiliate_id: number;
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
  readonly reference: string;
  /** The line of the file, from 1. */
  readonly line: number;
}

/** Collects the payments of payment files from their bytes, one file after another. */
export interface Payees {
  /** Passes through the bytes of one file. */
  through(file: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  /** Minor units by affiliate. */
  readonly amounts: ReadonlyMap<number, number>;
}

const lowered = (columns: readonly string[]) => columns.map((name) => name.toLowerCase());

/** Reads the rows of a payment file in chunks. `number` is the number of the payout they must belong to. */
function paymentReader(format: ProviderFormat, number: number) {
  const file = rowsOf(format);
  const columns = lowered(file.columns);
  const reader = csvReader({
    columns: [...columns, ...lowered(file.extra ?? [])],
    required: columns,
    fixedWords: [],
  });
  const isHeaderless = file.mark !== null;
  if (isHeaderless) reader.read(Buffer.from(`${columns.join()}\r\n`));
  const payments = (lines: readonly CsvLine[]) =>
    lines.map(({ line, cells }): Payment => {
      const cell = (column: string) => cells[reader.header.indexOf(column)] ?? '';
      const reference = cell(file.reference.toLowerCase());
      const named = readPaymentReference(reference);
      if (named?.payout !== number)
        throw new CommandError(`the file pays ${reference}, which is not in this payout`);
      const currency = normalizeCurrency(cell(file.currency.toLowerCase()));
      const amount = currency === null ? null : parseDecimal(cell('amount'), currency);
      if (currency === null || amount === null || amount < 1n)
        throw new CommandError(`the file pays ${reference} an amount that cannot be read: ${cell('amount')}`);
      return {
        affiliate_id: named.affiliate,
        currency,
        amount: Number(amount),
        reference,
        line: isHeaderless ? line - 1 : line,
      };
    });
  return {
    read: (piece: Buffer) => payments(reader.read(piece)),
    end: () => payments(reader.end()),
  };
}

const inWords = (format: ProviderFormat, error: unknown) =>
  error instanceof CsvError ? new CommandError(`the ${format} file: ${error.message}`) : error;

/** Reads the payments of payment files of the payout with this number. */
export function payeesOf(format: ProviderFormat, number: number): Payees {
  const amounts = new Map<number, number>();
  const note = (payments: readonly Payment[]) => {
    for (const { affiliate_id, amount } of payments) amounts.set(affiliate_id, amount);
  };
  return {
    amounts,
    async *through(file) {
      const reader = paymentReader(format, number);
      try {
        for await (const piece of file) {
          note(reader.read(piece));
          yield piece;
        }
        note(reader.end());
      } catch (error) {
        throw inWords(format, error);
      }
    },
  };
}

/** The provider of an exported payment file; null = another file. */
export const paymentFormat = (bytes: Buffer): ProviderFormat | null =>
  formatOfPaymentFile(bytes.subarray(0, 4096).toString('utf8'));

/**
 * The payments of a payment file of the payout with this number, one entry per line of the payout. Throws CommandError for
 * a file of another payout, an unreadable file, and a file that pays a line twice.
 */
export function readPaymentFile(format: ProviderFormat, number: number, bytes: Buffer): ListedEntry[] {
  const seen = new Map<string, number>();
  try {
    const reader = paymentReader(format, number);
    return [...reader.read(bytes), ...reader.end()].map(({ reference, line, ...payment }) => {
      const key = `${payment.affiliate_id} ${payment.currency}`;
      const first = seen.get(key);
      if (first !== undefined)
        throw new CommandError(`line ${line}: ${reference} is already in line ${first}`);
      seen.set(key, line);
      return { ...payment, is_paid: true, payment_reference: reference, where: `line ${line}` };
    });
  } catch (error) {
    const known = inWords(format, error);
    if (!(known instanceof CommandError)) throw known;
    throw new CommandError(`${known.message}; nothing was changed`, {
      code: 'bad_request',
      reason: 'invalid_file',
    });
  }
}

/** The payments of a payment file. */
export interface PaidFile {
  /** The number of the payout. */
  readonly number: number;
  /** The currency of the file. */
  readonly currency: string;
  /** Affiliates of the payout that it leaves out in that currency, counted by the server. */
  readonly skipped: number;
  /** Minor units by affiliate. */
  readonly amounts: ReadonlyMap<number, number>;
}

/** A list for `payouts complete --from`, with the numbers of affiliates paid and not paid. */
export interface PaidList {
  readonly csv: readonly string[];
  readonly paid: number;
  readonly notPaid: number;
}

/**
 * The paid list of a payment file: all lines of the payout, true for those in the file, with the amount if it is a part
 * of the line.
 */
export function paidList(
  lines: readonly PayoutLine[],
  { number, currency, skipped, amounts }: PaidFile,
): PaidList {
  const inCurrency = lines.filter(({ totals }) => totals.some((total) => total.currency === currency));
  const paid = inCurrency.filter(({ affiliate_id }) => amounts.has(affiliate_id));
  if (paid.length !== amounts.size || paid.length !== inCurrency.length - skipped) {
    throw new CommandError(
      `the file pays ${amounts.size} affiliates, but the payout has ${inCurrency.length} in ${currency.toUpperCase()} ` +
        `of whom ${skipped} are left out: nothing was written`,
    );
  }
  const rows = lines.flatMap(({ affiliate_id: id, totals }) =>
    totals.map((total) => {
      const amount = total.currency === currency ? amounts.get(id) : undefined;
      if (amount === undefined) return `${id},${total.currency},false,,`;
      const part = amount === toPay(total) ? '' : formatDecimal(BigInt(amount), currency);
      return `${id},${currency},true,${part},${paymentReference(number, id)}`;
    }),
  );
  const csv = ['affiliate_id,currency,is_paid,amount,payment_reference', ...rows].map((row) => `${row}\r\n`);
  return { csv, paid: paid.length, notPaid: lines.length - paid.length };
}
