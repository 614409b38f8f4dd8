/** The result of the payment of a line, as the file of a bank or provider reports it. */
export interface PaymentAnswer {
  readonly affiliate_id: number;
  readonly currency: string;
  readonly outcome: 'paid' | 'rejected' | 'returned' | 'pending';
  /** How the bank or provider finds the payment; null = it does not say. */
  readonly bank_reference: string | null;
  /** The payment file that has it; null = the file does not say. */
  readonly payment_file: string | null;
}

/** What one file says. */
export interface FileOfAnswers<Answer extends PaymentAnswer> {
  readonly kind: string;
  readonly lines: readonly Answer[];
  /** What it leaves in doubt: all lines of these affiliates. */
  readonly problems: readonly { readonly affiliate_id: number | null }[];
}

/** What several files say together. */
export interface MergedAnswers<Answer extends PaymentAnswer> {
  /** By line. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Lines that were refused in one file and paid in another. */
  readonly contradictions: readonly Answer[];
  /** Lines of which one file says something, and another leaves it in doubt or open whether more money left. */
  readonly doubted: readonly Answer[];
}

/** The key of a line: an affiliate in a currency. */
export const lineKey = ({
  affiliate_id,
  currency,
}: Pick<PaymentAnswer, 'affiliate_id' | 'currency'>): string => `${affiliate_id} ${currency}`;

interface SourcedAnswer<Answer> {
  readonly kind: string;
  readonly answer: Answer;
}

/**
 * The answers of several files, by line, in whatever order they come. Returned money takes precedence over money that left, and a
 * decision before `pending`. A line is not owed again while a payment may be on its way: refused or returned together with something
 * open is a doubt, unless it is the same payment. Where files do not agree, the line has no answer.
 */
export function mergeAnswers<Answer extends PaymentAnswer>(
  given: readonly FileOfAnswers<Answer>[],
): MergedAnswers<Answer> {
  // a verification of payees is about names, and so are its problems
  const files = given.filter(({ kind }) => kind !== 'verification');
  const all = new Map<string, SourcedAnswer<Answer>[]>();
  for (const { kind, lines } of files)
    for (const answer of lines) {
      const said = all.get(lineKey(answer));
      if (said === undefined) all.set(lineKey(answer), [{ kind, answer }]);
      else said.push({ kind, answer });
    }
  const inDoubt = new Set(files.flatMap(({ problems }) => problems.map(({ affiliate_id }) => affiliate_id)));
  const answers = new Map<string, Answer>();
  const contradictions: Answer[] = [];
  const doubted: Answer[] = [];
  for (const [key, said] of all) {
    const { verdict, answer } = decide(said);
    if (verdict === 'contradiction') contradictions.push(answer);
    else if (verdict === 'doubt' || inDoubt.has(answer.affiliate_id)) doubted.push(answer);
    else answers.set(key, answer);
  }
  return { answers, contradictions, doubted };
}

const isProvider = (kind: string) => kind === 'paypal' || kind === 'wise';

/** Whether two answers are about the same payment, as far as the files show it. */
const isSame = (one: PaymentAnswer, other: PaymentAnswer) =>
  (one.bank_reference !== null && one.bank_reference === other.bank_reference) ||
  (one.payment_file !== null && one.payment_file === other.payment_file);

/** What the answers of files about one line come to; there is at least one. */
function decide<Answer extends PaymentAnswer>(
  said: readonly SourcedAnswer<Answer>[],
): { readonly verdict: 'answer' | 'doubt' | 'contradiction'; readonly answer: Answer } {
  const of = (wanted: PaymentAnswer['outcome']) =>
    said.flatMap(({ answer }) => (answer.outcome === wanted ? [answer] : []));
  const [paid, rejected, returned, pending] = [of('paid'), of('rejected'), of('returned'), of('pending')];
  const answer = returned.at(-1) ?? rejected.at(-1) ?? paid.at(-1) ?? pending.at(-1);
  if (answer === undefined) throw new Error('a line without an answer');
  if (rejected.length > 0 && paid.length + returned.length > 0) return { verdict: 'contradiction', answer };
  const isEveryRejected = rejected.length === said.length;
  // each transaction of a provider is a payment of its own
  const isOfOther = said.some(
    ({ kind, answer: each }) =>
      isProvider(kind) &&
      said.some(
        ({ answer: other }) =>
          other !== each && (each.bank_reference === null || each.bank_reference !== other.bank_reference),
      ),
  );
  if (isOfOther && !isEveryRejected) return { verdict: 'doubt', answer };
  const back = [...returned, ...rejected];
  if (back.length === 0) return { verdict: 'answer', answer };
  // it would be owed again: nothing else may be open, and no second payment may have left
  const isOpen = pending.some((each) => !back.some((other) => isSame(each, other)));
  const payments = new Set(paid.map(({ bank_reference }) => bank_reference));
  return { verdict: isOpen || payments.size > 1 ? 'doubt' : 'answer', answer };
}
