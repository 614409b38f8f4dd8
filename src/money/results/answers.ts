/** The kinds of files that say what became of payments. */
export const RESULT_KINDS = ['camt.053', 'camt.054', 'pain.002', 'paypal', 'wise', 'paid_list'] as const;
export type ResultKind = (typeof RESULT_KINDS)[number];

/**
 * What became of a payment. `rejected`: no money left. `returned`: it left and came back. `pending`: whoever pays has not
 * decided.
 */
export const OUTCOMES = ['paid', 'rejected', 'returned', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The words of a source and what each means. A word that is not in it means nothing: it becomes a doubt. */
export type Vocabulary = ReadonlyMap<string, Outcome>;

/** Makes a vocabulary from the words of each outcome. */
export const vocabulary = (words: Readonly<Partial<Record<Outcome, readonly string[]>>>): Vocabulary =>
  new Map(OUTCOMES.flatMap((outcome) => (words[outcome] ?? []).map((word) => [word, outcome] as const)));

/** The reference of a payment, such as `P1-A12`. */
export interface Reference {
  readonly payout: number;
  readonly affiliate: number;
}

/** What a file says beside the outcome. */
interface AnswerDetails {
  /** What its amount can mean, in decimals (see `readAmount`); null = the file does not say. */
  readonly amount: readonly string[] | null;
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
  /** The id of the payment file that it names; null = it names none. */
  readonly file: string | null;
  /** Where in the file, such as `line 5` or `entry 3`. */
  readonly place: string;
}

/** What a file states of one payment, named by its reference or by the affiliate. */
export interface Answer extends AnswerDetails {
  readonly of: Reference | { readonly payout: null; readonly affiliate: number };
  readonly outcome: Outcome;
}

/** What a file states of everything in a payment file, unless it has an answer of its own. */
export interface FileAnswer extends AnswerDetails {
  readonly outcome: Outcome;
  readonly file: string;
  /** How many payments it has, as far as the bank says. */
  readonly count: number | null;
}

/** What a file has about a payment without stating what became of it. It can never become an outcome. */
export interface Doubt {
  /** `inexact_reference`: the reference is part of another text, so it may be about something else. */
  readonly kind: 'unclear' | 'inexact_reference';
  /** Null for what a file says of all payments of another one. */
  readonly of: Reference | null;
  readonly place: string;
  readonly message: string;
  /** The line of this payment has no answer then, whatever else the file says about it. */
  readonly isAboutLine: boolean;
  readonly account?: string;
}

/** What was read from a file. */
export interface ReadResult {
  readonly kind: ResultKind;
  readonly answers: readonly Answer[];
  readonly fileAnswers: readonly FileAnswer[];
  readonly doubts: readonly Doubt[];
  /** The ids of payment files that it names, whatever it says of them. */
  readonly files: ReadonlySet<string>;
  /** The id of the one message that all of it is about, of a status report; null for other kinds. */
  readonly message: string | null;
  /** Entries that name no payment of ours, such as money that customers paid in. */
  readonly others: number;
}

/** Thrown for a file that cannot be read; the message says where and why. */
export class ResultFileError extends Error {}

/** More answers in one file are refused, so that a file fits into memory. */
const MOST_ANSWERS = 200_000;

/** Collects what a file says. */
export class Answers {
  readonly #answers: Answer[] = [];
  readonly #fileAnswers: FileAnswer[] = [];
  readonly #doubts: Doubt[] = [];
  readonly #files = new Set<string>();
  others = 0;
  message: string | null = null;

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

  name(file: string | null | undefined): void {
    if (typeof file === 'string') this.#files.add(file);
  }

  of(kind: ResultKind): ReadResult {
    return {
      kind,
      answers: this.#answers,
      fileAnswers: this.#fileAnswers,
      doubts: this.#doubts,
      files: this.#files,
      message: this.message,
      others: this.others,
    };
  }

  #refuseMany(): void {
    const many = this.#answers.length + this.#fileAnswers.length + this.#doubts.length;
    if (many > MOST_ANSWERS)
      throw new ResultFileError(`the file has more than ${MOST_ANSWERS} payments: split it`);
  }
}

/** Parses a text that is a reference and nothing else, in any case: `P1-A12`; null for any other text. */
export function readReference(text: string): Reference | null {
  const [, payout, affiliate] = /^P(\d{1,15})-A([1-9]\d{0,14})$/i.exec(text.trim()) ?? [];
  return payout === undefined ? null : { payout: Number(payout), affiliate: Number(affiliate) };
}

/** The first text within another that looks like a reference; null when there is none. */
export function mentionIn(text: string): Reference | null {
  const [, payout, affiliate] = /P(\d{1,15})-A([1-9]\d{0,14})/i.exec(text) ?? [];
  return payout === undefined ? null : { payout: Number(payout), affiliate: Number(affiliate) };
}

/** A date of ISO 8601 at the beginning of a text; null for any other text. */
export const dayIn = (text: string | undefined): string | null =>
  /^\d{4}-\d\d-\d\d/.exec(text ?? '')?.[0] ?? null;
