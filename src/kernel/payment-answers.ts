/** What became of the payment of a line, as the file of a bank or provider says. */
export interface PaymentAnswer {
  readonly affiliate_id: number;
  readonly currency: string;
  readonly outcome: 'paid' | 'rejected' | 'returned' | 'pending';
}

/** The key of a line: an affiliate in a currency. */
export const lineKey = ({
  affiliate_id,
  currency,
}: Pick<PaymentAnswer, 'affiliate_id' | 'currency'>): string => `${affiliate_id} ${currency}`;

/**
 * The answers of several files, by line: a decision goes before `pending`, and money that came back before money that left. Lines
 * that were refused in one file and paid in another have no answer: they are in `contradictions`.
 */
export function mergeAnswers<Answer extends PaymentAnswer>(
  files: readonly (readonly Answer[])[],
): { readonly answers: ReadonlyMap<string, Answer>; readonly contradictions: readonly Answer[] } {
  const answers = new Map<string, Answer>();
  const contradictions = new Map<string, Answer>();
  for (const answer of files.flat()) {
    const key = lineKey(answer);
    const before = answers.get(key);
    const isOpen = before?.outcome === 'pending' || answer.outcome === 'pending';
    const isRefused = answer.outcome === 'rejected';
    if (before !== undefined && !isOpen && (before.outcome === 'rejected') !== isRefused)
      contradictions.set(key, answer);
    if (before === undefined || before.outcome === 'pending' || answer.outcome === 'returned')
      answers.set(key, answer);
  }
  for (const key of contradictions.keys()) answers.delete(key);
  return { answers, contradictions: [...contradictions.values()] };
}
