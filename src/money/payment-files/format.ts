import type { Readable } from 'node:stream';
import type { Snapshot } from '../../db/connect.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import type { Choice, DestinationType } from '../../kernel/payments.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Payer } from '../../people/accounts/record.ts';
import { paidThrough } from '../ledger/destinations.ts';
import type { FileHead } from '../payouts/csv.ts';
import type { Choices } from './choices.ts';

/** The payments of a payout as a format sees them. */
export interface Payments {
  /** The UUID of the account. */
  readonly account: AccountId;
  /** The UUID of the payout. */
  readonly payout: PayoutId;
  readonly format: PaymentFormat;
  /** Pays whole units in currencies of which the provider accepts no fractions. */
  readonly wholeUnits: boolean;
}

/** Which payments go into one file. */
export interface FilePart {
  /** null = all. */
  readonly currency: string | null;
  /** null = that of the payment. */
  readonly sourceCurrency: string | null;
  /** From 1; null = the file is whole. */
  readonly part: number | null;
  /** Which rows the part has; null = all. */
  readonly span: { readonly offset: number; readonly count: number } | null;
}

/** What a request chose about all files of a set. */
export type SetChoices = Pick<
  Choices,
  'rows_per_file' | 'source_currency' | 'whole_units' | 'execution_date'
>;

/** A file as it was made when it was first downloaded. */
export interface MadeFile {
  /** The revision of the payout at which its set was first downloaded. */
  readonly revision: number;
  /** The beginning of the digest of its content. */
  readonly code: string;
  /** From 1. */
  readonly part: number;
  /** RFC 3339. */
  readonly madeAt: string;
  /** The same in the time zone of the account: `YYMMDDHHMM`. */
  readonly localTime: string;
  /** When a bank is to pay, `YYYY-MM-DD`; null = the format has no such day. */
  readonly executionDate: string | null;
  /** NACHA: which file of its originator on that day, and the number of its first entry then; both from 1. */
  readonly modifier: number | null;
  readonly firstTrace: number | null;
}

/** By whom the NACHA files of a day are counted. */
export interface Originating {
  readonly destination: string;
  readonly origin: string;
}

/** What a file is made of. */
export interface Making {
  readonly db: Snapshot;
  readonly payments: Payments;
  readonly file: FilePart;
  readonly head: FileHead;
  readonly payer: Payer;
  readonly vault: Vault;
  /** null for a file that moves no money. */
  readonly made: MadeFile | null;
}

/** A format of payment files. Its expressions are SQL over a row `r` of `paymentRows`. */
export interface PaymentFormat {
  /** The name in the path and in the file's name. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  /** The destinations that it pays to; null = all. */
  readonly destination: DestinationType | null;
  /** The one currency that it pays in; null = several. */
  readonly currency: string | null;
  readonly extension: string;
  readonly contentType: string;
  /** What may be chosen; a file without the choice `currency` has all of them. */
  readonly choices: readonly Choice[];
  /** How many rows one file may have; null = any number. */
  readonly maxRows: number | null;
  /** Parts have about the same number of rows; otherwise all but the last are full. */
  readonly splitsEvenly: boolean;
  /** How many rows a file may have by the settings of the account, where they say so. */
  readonly ownMaxRows?: (payer: Payer) => number | undefined;
  /** Why the account cannot have such a file yet; null = it can. */
  readonly lacks?: (payer: Payer) => string | null;
  /** What of the account is in its files. */
  readonly paidBy?: (payer: Payer) => object | null;
  /** By whom its files of a day are counted. */
  readonly originating?: (payer: Payer) => Originating | null;
  /** The id that a file says of itself, where it has one. */
  readonly messageId?: (head: FileHead, made: MadeFile) => string;
  /** The largest sum of a file, minor units, and what to do about more. */
  readonly mostInFile?: { readonly amount: bigint; readonly advice: string };
  /**
   * The days it pays on, `YYYY-MM-DD`, at an instant in milliseconds; without this, on any from today: the first one, and
   * why another is refused.
   */
  readonly days?: {
    readonly first: (nowMs: number) => string;
    readonly refusal: (day: string, nowMs: number) => string | null;
  };
  /** The order of its rows, SQL; without it by affiliate. */
  readonly order?: string;
  /** All that a file says of a row, as text: what identifies the file. No account number, but the id of its destination. */
  readonly content: string;
  /** Why a row cannot be in the file, as text; null where it can. */
  readonly refusal: string;
  /**
   * Whether the provider may refuse a row because of its amount, as a condition. Such rows are written and
   * reported.
   */
  readonly aboveLimit: string;
  /** Currencies of which the provider accepts no fractions. */
  readonly wholeCurrencies: readonly string[];
  /** An empty file is refused, because the provider does not accept one. */
  readonly needsRows: boolean;
  /** The bytes of a file. It reads the snapshot to its end. */
  readonly write: (making: Making) => Promise<Readable>;
}

/** Why files that move money leave out affiliates who must not be paid now. The time is told by hours, so that many are one group. */
export const NOT_NOW = `when r.is_switched_off then 'is_ready_for_payout is false'
    when r.waits_until > now() then 'the destination changed less than ' || r.destination_wait_hours || ' hours ago: paid from '
      || to_char(date_trunc('hour', (r.waits_until + interval '1 hour') at time zone r.time_zone), 'YYYY-MM-DD HH24:MI') || ' on ('
      || r.time_zone || ')'`;

/** How a row `r` is paid. */
export const WAY = paidThrough('r.destination_type', 'r');

/** Why a format leaves out who is paid in another way. */
export const paidElsewhere = (destination: DestinationType): string =>
  `when ${WAY} <> '${destination}'
      then case when r.destination_type is not null then 'the destination is '
                when r.payout_method is not null then 'payout_method is '
                else 'there is no payout_method, and the paypal_email makes it ' end || ${WAY}`;

/** Why a bank file leaves out who has no account to pay to, or one whose number is lost. */
export const bankAccountMissing = (destination: DestinationType): string => `
    ${paidElsewhere(destination)}
    when r.destination_type is null then 'no bank account'
    when r.number is null then 'the account number was lost with the secret key: set the destination again'`;

/** Whether the currency of a row is one of these. */
export const among = (currencies: readonly string[]): string =>
  `r.currency in (${currencies.map((code) => `'${code}'`)})`;

/** The amount with the digits of its currency. */
export const DECIMAL = 'decimal_text(r.amount, r.currency)';

/**
 * Whether a spreadsheet would run the cell as a formula. A cell that says who gets the money is never quoted, as
 * `csv_text` does elsewhere: an address with an apostrophe in front is another address.
 */
export const isFormula = (cell: string): string => `csv_text(${cell}) <> ${cell}`;

/** Why a cell that a spreadsheet would run is refused. */
export const formulaRefusal = (field: string): string =>
  `'${field} begins like a formula, which a spreadsheet would run'`;
