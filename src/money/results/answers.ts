import { type PaymentFileId, paymentFileId } from '../../kernel/payment-file-id.ts';

/** The kinds of files that say what became of payments. */
export const RESULT_KINDS = ['camt.053', 'camt.054', 'pain.002', 'paypal', 'wise', 'paid_list'] as const;
export type ResultKind = (typeof RESULT_KINDS)[number];

/**
 * What became of a payment. `rejected`: no money left. `returned`: it left and came back. `pending`: whoever pays has not
 * decided.
 */
export const OUTCOMES = ['paid', 'rejected', 'returned', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a file says of one payment, or of all payments of a file that was sent. */
interface Said {
  readonly outcome: Outcome;
  /** In decimals, as it is written; null = the file does not say. */
  readonly amount: string | null;
  /** Lower case; null = the file does not say. */
  readonly currency: string | null;
  /** A code of ISO 20022 or of the provider. */
  readonly code: string | null;
  /** The bank's own words. */
  readonly words: string | null;
  /** `YYYY-MM-DD`. */
  readonly on: string | null;
  readonly bankReference: string | null;
  /** The IBAN of the account that it is booked on, where the file has one. */
  readonly account?: string;
  /** Where in the file, such as `line 5` or `entry 3`. */
  readonly place: string;
}

/** What a file says of one payment, named by its reference or by the affiliate. */
export interface Answer extends Said {
  readonly reference: string;
  /** The affiliate's id in a list that has ids instead of references. */
  readonly affiliateId: number | null;
}

/** What a file says of everything in a file that was sent, unless it has an answer of its own. */
export interface FileAnswer extends Said {
  readonly file: SentFile;
  /** How many payments it has, as far as the bank says. */
  readonly count: number | null;
}

/** A SEPA file as its MsgId and PmtInfId name it. */
export type SentFile = PaymentFileId;

/** What was read from a file. */
export interface ReadResult {
  readonly kind: ResultKind;
  readonly answers: readonly Answer[];
  readonly fileAnswers: readonly FileAnswer[];
  /** The files that were sent which it names, whatever it says of them. */
  readonly files: readonly SentFile[];
  /** Entries that name no payment of ours, such as money that customers paid in. */
  readonly others: number;
}

/** Thrown for a file that cannot be read; the message says where and why. */
export class ResultFileError extends Error {}

/** More answers in one file are refused, so that a file fits into memory. */
const MOST_ANSWERS = 200_000;

/** Collects what a file says. */
export class Answers {
  readonly answers: Answer[] = [];
  readonly fileAnswers: FileAnswer[] = [];
  readonly #files = new Map<string, SentFile>();
  others = 0;

  add(answer: Answer): void {
    if (this.answers.length >= MOST_ANSWERS)
      throw new ResultFileError(`the file has more than ${MOST_ANSWERS} payments: split it`);
    this.answers.push(answer);
  }

  addFile(answer: FileAnswer): void {
    this.fileAnswers.push(answer);
    this.name(answer.file);
  }

  name(file: SentFile | null): void {
    if (file !== null) this.#files.set(paymentFileId(file), file);
  }

  of(kind: ResultKind): ReadResult {
    return {
      kind,
      answers: this.answers,
      fileAnswers: this.fileAnswers,
      files: [...this.#files.values()],
      others: this.others,
    };
  }
}

/** The first reference of a payment in a text, such as that of the remittance; null when it has none. */
export const referenceIn = (text: string | undefined): string | null =>
  /\bP\d{1,15}-A[1-9]\d{0,14}\b/.exec(text ?? '')?.[0] ?? null;
