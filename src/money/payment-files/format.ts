import type { Readable } from 'node:stream';
import type { Snapshot } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Payer } from '../../people/accounts/record.ts';
import {
  type DestinationType,
  PAYMENT_FILES,
  type PaymentFileFormat,
  type PaymentFormatName,
} from '../../terms/payments.ts';
import { paidThrough } from '../ledger/destinations.ts';
import type { FileHead } from '../payouts/csv.ts';
import type { Choices } from './choices.ts';

/** The payments of a payout as a format reads them. */
export interface Payments {
  /** The UUID of the account. */
  readonly account: AccountId;
  /** The UUID of the payout. */
  readonly payout: PayoutId;
  readonly format: PaymentFormat;
  /** Pays whole units in currencies for which the provider accepts no fractions. */
  readonly wholeUnits: boolean;
}

/** The payments that go into one file. */
export interface FilePart {
  /** null = all. */
  readonly currency: string | null;
  /** null = the currency of the payment. */
  readonly sourceCurrency: string | null;
  /** Instant transfers; only in formats with the choice `instant`. */
  readonly isInstant: boolean;
  /** From 1; null = the file is whole. */
  readonly part: number | null;
  /** Which rows the part has; null = all. */
  readonly span: { readonly offset: number; readonly count: number } | null;
}

/** The choices of a request that apply to all files of a set. */
export type SetChoices = Pick<
  Choices,
  'rows_per_file' | 'source_currency' | 'whole_units' | 'execution_date' | 'instant'
>;

/** A file as made at its first download. */
export interface MadeFile {
  /** The revision of the payout when its set was first downloaded. */
  readonly revision: number;
  /** The first characters of the digest of its content. */
  readonly code: string;
  /** From 1. */
  readonly part: number;
  /** RFC 3339. */
  readonly madeAt: string;
  /** The same time in the account's time zone: `YYMMDDHHMM`. */
  readonly localTime: string;
  /** When a bank should pay, `YYYY-MM-DD`; null = the format has no such day. */
  readonly executionDate: string | null;
  /**
   * NACHA: the number of the file among its originator's files of that day, and the number of its first entry; both from
   * 1.
   */
  readonly modifier: number | null;
  readonly firstTrace: number | null;
}

/** The originator by whom the NACHA files of a day are counted. */
export interface Originating {
  readonly destination: string;
  readonly origin: string;
  /** The first eight digits of the trace numbers. */
  readonly dfi: string;
}

/** The inputs for making a file. */
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

/** A warning about rows of a file that are written all the same. */
export interface FileWarning {
  readonly code: FileWarningCode;
  readonly message: string;
  /** SQL for a condition on a row `r` in the file. */
  readonly when: string;
}
/** What a file is warned of. */
export const FILE_WARNINGS = ['description_not_payroll', 'message_withdrawn', 'address_missing'] as const;
type FileWarningCode = (typeof FILE_WARNINGS)[number];

/** A format of payment files. Its expressions are SQL over a row `r` of `paymentRows`. */
export interface PaymentFormat
  extends Pick<PaymentFileFormat, 'about' | 'extension' | 'contentType' | 'choices' | 'payer'> {
  /** The name in the path and in the file's name. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  /** The destination type it pays to; null = all. */
  readonly destination: DestinationType | null;
  /** Its only currency; null = several. A file without the choice `currency` contains all currencies. */
  readonly currency: string | null;
  /** The maximum number of rows in a file; null = unlimited. */
  readonly maxRows: number | null;
  /** Parts have about equal numbers of rows; otherwise all but the last are full. */
  readonly splitsEvenly: boolean;
  /** The originator by whom its files of a day are counted. */
  readonly originating?: (payer: Payer) => Originating | null;
  /** The file's own message id, if it has one. */
  readonly messageId?: (head: FileHead, made: MadeFile) => string;
  /** The maximum sum of a file in minor units, and the advice when it is exceeded. */
  readonly mostInFile?: { readonly amount: bigint; readonly advice: string };
  /**
   * The days it pays on, `YYYY-MM-DD`, at an instant in milliseconds: the first one, and why another is refused. Without
   * this, any day from today.
   */
  readonly days?: {
    readonly first: (nowMs: number) => string;
    readonly refusal: (day: string, nowMs: number) => string | null;
  };
  /** SQL for the order of its rows; by affiliate if absent. */
  readonly order?: string;
  /**
   * Everything a file contains about a row, as text; it identifies the file. Contains the destination's id instead of an
   * account number.
   */
  readonly content: string;
  /** Why a row cannot be in the file, as text, or null. */
  readonly refusal: string;
  /** Condition: the provider may refuse a row because of its amount. Such rows are written and reported. */
  readonly aboveLimit: string;
  /** Rules that a bank may refuse rows by. Such rows are written and reported. */
  readonly warnings?: (payer: Payer) => readonly FileWarning[];
  /** Currencies for which the provider accepts no fractions. */
  readonly wholeCurrencies: readonly string[];
  /** Whether an empty file is refused because the provider does not accept one. */
  readonly needsRows: boolean;
  /** Writes the file. Reads the snapshot to its end. */
  readonly write: (making: Making) => Promise<Readable>;
}

/** What a format has from the list of formats, for the files that move money. */
export const paymentFormat = (name: PaymentFormatName) =>
  ({
    name,
    title: `${PAYMENT_FILES[name].label} file`,
    ...PAYMENT_FILES[name],
  }) satisfies Partial<PaymentFormat>;

/** What the account is paid from in the files of a format; null = nothing, or it is not set up. */
export const payingFrom = ({ payer }: PaymentFormat, account: Payer) => payer && account[payer.field];

/**
 * Why files that move money leave out affiliates who must not be paid now. Times are rounded to hours, so that many
 * affiliates share one reason.
 */
export const NOT_NOW = `when r.is_switched_off then 'is_ready_for_payout is false'
    when r.waits_until > now() then 'the destination changed less than ' || r.destination_wait_hours || ' hours ago: paid from '
      || to_char(date_trunc('hour', (r.waits_until + interval '1 hour') at time zone r.time_zone), 'YYYY-MM-DD HH24:MI') || ' on ('
      || r.time_zone || ')'
    when r.is_blocked then 'a signal blocks the line until somebody has reviewed it'`;

/** How a row `r` is paid. */
export const WAY = paidThrough('r.destination_type', 'r');

/** Why a format leaves out affiliates who are paid in another way. */
export const paidElsewhere = (destination: DestinationType): string =>
  `when ${WAY} <> '${destination}'
      then case when r.destination_type is not null then 'the destination is '
                when r.payout_method is not null then 'payout_method is '
                else 'there is no payout_method, and the paypal_email makes it ' end || ${WAY}`;

/** Why a bank file leaves out affiliates without an account, or with a lost number. */
export const bankAccountMissing = (destination: DestinationType): string => `
    ${paidElsewhere(destination)}
    when r.destination_type is null then 'no bank account'
    when r.number is null then 'the account number was lost with the secret key: set the destination again'`;

/** Whether a row's currency is one of these. */
export const among = (currencies: readonly string[]): string =>
  `r.currency in (${currencies.map((code) => `'${code}'`)})`;

/** The amount with the digits of its currency. */
export const DECIMAL = 'decimal_text(r.amount, r.currency)';

/**
 * Whether a spreadsheet would run the cell as a formula. Cells that identify the payee are never quoted with an
 * apostrophe, as `csv_text` does elsewhere: the apostrophe would change the address.
 */
export const isFormula = (cell: string): string => `csv_text(${cell}) <> ${cell}`;

/** The refusal of a cell that a spreadsheet would run. */
export const formulaRefusal = (field: string): string =>
  `'${field} begins like a formula, which a spreadsheet would run'`;
