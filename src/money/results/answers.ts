import type { Corrected } from '../../terms/ach-codes.ts';
import type { Verification } from '../ledger/verifications.ts';

/** The kinds of files that report the results of payments. */
export const RESULT_KINDS = [
  'camt.053',
  'camt.054',
  'pain.002',
  'verification',
  'nacha',
  'paypal',
  'wise',
  'paid_list',
] as const;
export type ResultKind = (typeof RESULT_KINDS)[number];

/**
 * The result of a payment. `rejected`: no money left. `returned`: it left and came back. `pending`: the bank or provider
 * has not decided.
 */
export const OUTCOMES = ['paid', 'rejected', 'returned', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The words of a source and their meanings. An unknown word becomes a doubt. */
export type Vocabulary = ReadonlyMap<string, Outcome>;

/** Makes a vocabulary from the words of each outcome. */
export const vocabulary = (words: Readonly<Partial<Record<Outcome, readonly string[]>>>): Vocabulary =>
  new Map(OUTCOMES.flatMap((outcome) => (words[outcome] ?? []).map((word) => [word, outcome] as const)));

/** The reference of a payment, such as `P1-A12`. */
export interface Reference {
  readonly payout: number;
  readonly affiliate: number;
}

/** What a file states besides the outcome. */
interface AnswerDetails {
  /** The possible readings of its amount as decimals (see `readAmount`); null = the file has none. */
  readonly amount: readonly string[] | null;
  /** Lower case; null = the file has none. */
  readonly currency: string | null;
  /** A code of ISO 20022 or of the provider. */
  readonly code: string | null;
  /** The bank's own text. */
  readonly words: string | null;
  /** `YYYY-MM-DD`. */
  readonly on: string | null;
  readonly bankReference: string | null;
  /** The IBAN of the account it is booked on, if the file has one. */
  readonly account?: string;
  /** The id of the payment file it names; null = none. */
  readonly file: string | null;
  /** The place in the file, such as `line 5` or `entry 3`. */
  readonly place: string;
}

/** The payment that a bank returns or corrects, as it was sent in a NACHA file. */
export interface AchEntry {
  /** Fifteen digits. */
  readonly trace: string;
  /** The first eight digits of the routing number. */
  readonly bank: string;
  /** The end of the account number. */
  readonly lastFour: string;
}

/** A file's statement about one payment, identified by its reference or by the affiliate. */
export interface Answer extends AnswerDetails {
  readonly of: Reference | { readonly payout: null; readonly affiliate: number };
  readonly outcome: Outcome;
  /** Only in NACHA files. */
  readonly entry?: AchEntry;
}

/** A bank's correction of where a payment went (notification of change). It says nothing about the payment. */
export interface Correction {
  readonly of: Reference;
  readonly entry: AchEntry;
  /** C01 to C07. */
  readonly code: string;
  readonly corrected: Corrected;
  readonly place: string;
}

/** A file's statement about every payment of a payment file that has no answer of its own. */
export interface FileAnswer extends AnswerDetails {
  readonly outcome: Outcome;
  readonly file: string;
  /** The number of payments, if the bank states it. */
  readonly count: number | null;
}

/** A file's statement about whether the name of a payee is that of the account. It says nothing about the payment. */
export interface Verified {
  readonly of: Reference;
  readonly result: Verification;
  /** The name that the bank of the payee has; null = it gives none. */
  readonly bankName: string | null;
  readonly code: string | null;
  readonly words: string | null;
  /** The name and the IBAN that the bank checked; null = it does not repeat them. */
  readonly name: string | null;
  readonly iban: string | null;
  /** The id of the payment file; null = the answer names none, but name and IBAN. */
  readonly file: string | null;
  readonly place: string;
}

/** A file's statement that the payees of a payment file match whom it does not list. */
export interface VerifiedFile {
  readonly file: string;
  /** How many payees have each result, listed or not; null = the bank does not count, and all others match. */
  readonly counts: ReadonlyMap<Verification, number> | null;
  readonly place: string;
}

/** A mention of a payment without a clear result. It can never become an outcome. */
export interface Doubt {
  /** `inexact_reference`: the reference is part of another text, so it may concern something else. */
  readonly kind: 'unclear' | 'inexact_reference';
  /** Null if it concerns all payments of a file. */
  readonly of: Reference | null;
  readonly place: string;
  readonly message: string;
  /** If true, the line of this payment gets no answer, whatever else the file says about it. */
  readonly isAboutLine: boolean;
  readonly account?: string;
}

/** The content of a result file. */
export interface ReadResult {
  readonly kind: ResultKind;
  readonly answers: readonly Answer[];
  readonly fileAnswers: readonly FileAnswer[];
  readonly doubts: readonly Doubt[];
  readonly verified: readonly Verified[];
  readonly verifiedFiles: readonly VerifiedFile[];
  readonly corrections: readonly Correction[];
  /** When the bank made the file, `YYYY-MM-DD`; null = it is not stated, or does not matter. */
  readonly madeOn: string | null;
  /** The ids of payment files that it names in any context. */
  readonly files: ReadonlySet<string>;
  /** The id of the message that a status report is about; null for other kinds. */
  readonly message: string | null;
  /** Entries that name none of our payments, such as incoming customer payments. */
  readonly others: number;
}

/** Thrown for a file that cannot be read. The message says where and why. */
export class ResultFileError extends Error {}

/** The maximum number of answers in a file, so that a file fits into memory. */
const MOST_ANSWERS = 200_000;

/** Collects the answers of a file. */
export class Answers {
  readonly #answers: Answer[] = [];
  readonly #fileAnswers: FileAnswer[] = [];
  readonly #doubts: Doubt[] = [];
  readonly #verified: Verified[] = [];
  readonly #verifiedFiles: VerifiedFile[] = [];
  readonly #corrections: Correction[] = [];
  readonly #files = new Set<string>();
  others = 0;
  message: string | null = null;
  madeOn: string | null = null;

  state(answer: Answer): void {
    this.#answers.push(answer);
    this.#refuseMany();
  }

  stateFile(answer: FileAnswer): void {
    this.#fileAnswers.push(answer);
    this.name(answer.file);
    this.#refuseMany();
  }

  doubt(doubt: Doubt): void {
    this.#doubts.push(doubt);
    this.#refuseMany();
  }

  verify(verified: Verified): void {
    this.#verified.push(verified);
    this.#refuseMany();
  }

  verifyFile(verified: VerifiedFile): void {
    this.#verifiedFiles.push(verified);
    this.#refuseMany();
  }

  correct(correction: Correction): void {
    this.#corrections.push(correction);
    this.#refuseMany();
  }

  /** Whether it has a verification of a payee. */
  get hasVerification(): boolean {
    return this.#verified.length + this.#verifiedFiles.length > 0;
  }

  name(file: string | null | undefined): void {
    if (typeof file === 'string') this.#files.add(file);
  }

  of(kind: ResultKind): ReadResult {
    return {
      kind,
      answers: this.#answers,
      fileAnswers: this.#fileAnswers,
      doubts: this.#doubts,
      verified: this.#verified,
      verifiedFiles: this.#verifiedFiles,
      corrections: this.#corrections,
      madeOn: this.madeOn,
      files: this.#files,
      message: this.message,
      others: this.others,
    };
  }

  #refuseMany(): void {
    const all = [
      this.#answers,
      this.#fileAnswers,
      this.#doubts,
      this.#verified,
      this.#verifiedFiles,
      this.#corrections,
    ];
    if (all.reduce((sum, { length }) => sum + length, 0) > MOST_ANSWERS)
      throw new ResultFileError(`the file has more than ${MOST_ANSWERS} payments: split it`);
  }
}

/** Parses a text that is exactly a reference, in any case: `P1-A12`; null for any other text. */
export function readReference(text: string): Reference | null {
  const [, payout, affiliate] = /^P(\d{1,15})-A([1-9]\d{0,14})$/i.exec(text.trim()) ?? [];
  return payout === undefined ? null : { payout: Number(payout), affiliate: Number(affiliate) };
}

/** The first text within another that looks like a reference, or null. */
export function mentionIn(text: string): Reference | null {
  const [, payout, affiliate] = /P(\d{1,15})-A([1-9]\d{0,14})/i.exec(text) ?? [];
  return payout === undefined ? null : { payout: Number(payout), affiliate: Number(affiliate) };
}

/** An ISO 8601 date at the beginning of a text, or null. */
export const dayIn = (text: string | undefined): string | null =>
  /^\d{4}-\d\d-\d\d/.exec(text ?? '')?.[0] ?? null;
