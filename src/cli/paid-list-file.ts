import type { PayoutLine } from '../client/client.ts';
import { type CsvLine, type CsvReader, csvReader } from '../kernel/csv.ts';
import { CsvError } from '../kernel/csv-refusal.ts';
import { nameSome } from '../kernel/errors.ts';
import { CommandError } from './errors.ts';

/** The formats whose rows carry the reference of a payment, `<payout number>-<affiliate id>`. */
export type PaidFormat = 'paypal' | 'wise';

const COLUMNS = {
  paypal: ['recipient', 'amount', 'currency', 'reference', 'note', 'wallet'],
  wise: [
    'name',
    'recipientemail',
    'paymentreference',
    'receivertype',
    'amountcurrency',
    'amount',
    'sourcecurrency',
    'targetcurrency',
  ],
};
const REFERENCE = { paypal: 'reference', wise: 'paymentreference' };

/** Whom payment files pay: fed with their bytes, one file after the other. */
export interface Payees {
  /** Passes the bytes of one file on. */
  through(file: AsyncIterable<Buffer>): AsyncIterable<Buffer>;
  readonly ids: ReadonlySet<number>;
}

/** Reads the references of payment files of the payout with this number. */
export function payeesOf(format: PaidFormat, number: number): Payees {
  const ids = new Set<number>();
  const pattern = new RegExp(`^${number}-([1-9]\\d{0,14})$`);

  function note({ header }: CsvReader, lines: readonly CsvLine[]): void {
    const column = header.indexOf(REFERENCE[format]);
    for (const { cells } of lines) {
      const id = pattern.exec(cells[column] ?? '')?.[1];
      if (id === undefined)
        throw new CommandError(`the file pays ${cells[column]}, which is not of this payout`);
      ids.add(Number(id));
    }
  }

  return {
    ids,
    async *through(file) {
      const columns = COLUMNS[format];
      const reader = csvReader({ columns, required: columns, fixedWords: [] });
      try {
        if (format === 'paypal') reader.read(Buffer.from(`${columns.join()}\r\n`));
        for await (const piece of file) {
          note(reader, reader.read(piece));
          yield piece;
        }
        note(reader, reader.end());
      } catch (error) {
        throw error instanceof CsvError ? new CommandError(`the ${format} file: ${error.message}`) : error;
      }
    },
  };
}

/** What a payment file pays of a payout. */
export interface PaidFile {
  /** The number of the payout. */
  readonly number: number;
  /** The currency of the file. */
  readonly currency: string;
  /** Affiliates of the payout it leaves out in that currency, as the server counts them. */
  readonly skipped: number;
  readonly payees: ReadonlySet<number>;
}

/** A list for `payouts complete --from`, and how many it says were paid. */
export interface PaidList {
  readonly csv: readonly string[];
  readonly paid: number;
  readonly notPaid: number;
}

/**
 * The list of who was paid by a payment file: all lines of the payout, true for those in the file. Complete knows no
 * currencies: it says of an affiliate that all was paid, or nothing. So whoever is in the file and is owed another
 * currency too can be neither (the one would never pay the rest, the other would pay twice): CommandError names them.
 */
export function paidList(
  lines: readonly PayoutLine[],
  { number, currency, skipped, payees }: PaidFile,
): PaidList {
  const inCurrency = lines.filter(({ totals }) => totals.some((total) => total.currency === currency));
  const paid = inCurrency.filter(({ affiliate_id }) => payees.has(affiliate_id));
  if (paid.length !== payees.size || paid.length !== inCurrency.length - skipped) {
    throw new CommandError(
      `the file pays ${payees.size} affiliates, but the payout has ${inCurrency.length} in ${currency.toUpperCase()} ` +
        `of whom ${skipped} are left out: nothing was written`,
    );
  }
  refusePartly(paid, currency);
  const rows = lines.map(({ affiliate_id }) =>
    payees.has(affiliate_id) ? `${affiliate_id},true,${number}-${affiliate_id}` : `${affiliate_id},false,`,
  );
  const csv = ['affiliate_id,is_paid,payment_reference', ...rows].map((row) => `${row}\r\n`);
  return { csv, paid: paid.length, notPaid: lines.length - paid.length };
}

function refusePartly(paid: readonly PayoutLine[], currency: string): void {
  const partly = paid.filter(({ totals }) => totals.length > 1);
  if (partly.length === 0) return;
  const currencies = partly.flatMap(({ totals }) => totals.map((total) => total.currency.toUpperCase()));
  const others = [...new Set(currencies)].filter((code) => code !== currency.toUpperCase());
  const names = nameSome(partly.map(({ affiliate_id }) => affiliate_id));
  const verb = partly.length === 1 ? `affiliate ${names} is` : `affiliates ${names} are`;
  throw new CommandError(
    `${verb} owed ${others.join(', ')} too, which this file does not pay, and a paid list says of an affiliate that all ` +
      'was paid or nothing; nothing was written. Make the files without --paid-list, pay all of them, and say who was ' +
      `paid yourself; or make payouts of one currency each: payhook payouts create --filter currency=${currency}`,
    { code: 'conflict', reason: 'several_currencies' },
  );
}
