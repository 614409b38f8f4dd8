import type { Client, Payout, PayoutResultLine, PayoutResultProposal } from '../../client/client.ts';
import { nameSome } from '../../kernel/errors.ts';
import { lineKey, mergeAnswers } from '../../kernel/payment-answers.ts';
import { CommandError } from '../command/errors.ts';
import { amounts, count, decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';
import type { LineName, ListedEntry } from './paid-list.ts';

/** A file that a bank or provider answered with. */
export interface ResultFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Whether these bytes are an answer that the server reads, and no list by affiliates or payment file: XML, or a CSV file that has
 * a status for each payment or names payments by their reference. The server tells which it is.
 */
export function isResultFile(bytes: Buffer): boolean {
  const start = bytes
    .subarray(0, 4096)
    .toString('utf8')
    .replaceAll(/[\0\uFEFF\uFFFD]/g, '')
    .trimStart();
  if (start.startsWith('<')) return true;
  const [first = ''] = start.split(/\r\n|\r|\n/, 1);
  return first.split(/[,;\t|]/).some((cell) => /\bstatus\b|^\W*reference\W*$/i.test(cell));
}

/** What the files propose for each line of the payout that they answer. */
export interface Proposals {
  readonly lines: readonly PayoutResultLine[];
}

const nameOf = ({ affiliate_id, currency }: LineName) => `${affiliate_id} in ${currency.toUpperCase()}`;

/**
 * Sends the files to the server, prints what each says, and puts their answers together. Throws CommandError where files
 * contradict each other.
 */
export async function proposalsOf(
  client: Client,
  payout: Payout,
  files: readonly ResultFile[],
  terminal: Terminal,
): Promise<Proposals> {
  const found: (readonly PayoutResultLine[])[] = [];
  for (const { path, bytes } of files) {
    const proposal = await client.payouts.takeResult(payout.id, bytes);
    terminal.note(describeProposal(path, proposal, terminal));
    found.push(proposal.lines);
  }
  const { answers, contradictions } = mergeAnswers(found);
  if (contradictions.length === 0) return { lines: [...answers.values()] };
  throw new CommandError(
    `the files contradict each other: affiliates ${nameSome(contradictions.map(nameOf))} are refused in one and paid in ` +
      'another; nothing was changed',
    { code: 'bad_request', reason: 'duplicate_entry' },
  );
}

/** The sums of lines by currency, in one line. */
export function sumsOf(lines: readonly PayoutResultLine[]): string {
  const sums = new Map<string, number>();
  for (const { currency, amount } of lines) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  return amounts([...sums].map(([currency, amount]) => ({ currency, amount })));
}

const MOST_SHOWN = 50;

/** What a file says, for people: every line with something to look at, and the others as sums. */
export function describeProposal(
  path: string,
  { kind, lines, counts, problems, outdated_revisions, uploaded_before }: PayoutResultProposal,
  { paint }: Terminal,
): string {
  const paid = lines.filter(({ outcome }) => outcome === 'paid');
  const others = lines.filter(({ outcome }) => outcome !== 'paid');
  const warnings = [
    ...(uploaded_before === null
      ? []
      : [`the same file came before, on ${shortTime(uploaded_before)} (UTC)`]),
    ...outdated_revisions.map(
      (revision) => `it answers revision ${revision}, and the payout has changed since`,
    ),
    ...problems.slice(0, MOST_SHOWN).map(({ message }) => printable(message)),
    ...(counts.problems > MOST_SHOWN ? [`and ${counts.problems - MOST_SHOWN} more`] : []),
  ];
  const rows = others
    .slice(0, MOST_SHOWN)
    .map(({ affiliate_id, name, amount, currency, outcome, reason, is_booked }) => [
      String(affiliate_id),
      name ?? '',
      `${decimal({ amount, currency })} ${currency.toUpperCase()}`,
      is_booked ? `${outcome}, booked` : outcome,
      reason ?? '',
    ]);
  const columns = [
    { heading: 'AFFILIATE', right: true },
    { heading: 'NAME', most: 30 },
    { heading: 'AMOUNT', right: true },
    { heading: 'OUTCOME' },
    { heading: 'REASON', most: 80 },
  ];
  return [
    `${paint.strong(printable(path))} (${kind}): ${count(paid.length, 'payment')} paid${
      paid.length === 0 ? '' : `, ${sumsOf(paid)}`
    }; ${counts.rejected} rejected, ${counts.returned} returned, ${counts.pending} pending, ${counts.unanswered} without an answer`,
    ...(rows.length === 0 ? [] : [table(columns, rows, paint.faint).trimEnd()]),
    ...(others.length > MOST_SHOWN ? [`and ${others.length - MOST_SHOWN} more`] : []),
    ...warnings.map((text) => `${paint.warning('Look:')} ${text}`),
  ].join('\n');
}

/** The answers as entries of Complete: what came back was paid first. Pending lines have none. */
export function entriesOf({ lines }: Proposals): ListedEntry[] {
  return lines
    .filter(({ outcome }) => outcome !== 'pending')
    .map(({ affiliate_id, currency, outcome, amount, line_amount, bank_reference, reference }) => {
      const about = { affiliate_id, currency, where: 'the result file' };
      if (outcome === 'rejected') return { ...about, is_paid: false };
      const isPart = outcome === 'paid' && amount < line_amount;
      const payment_reference = bank_reference ?? reference;
      return { ...about, is_paid: true, payment_reference, ...(isPart ? { amount } : {}) };
    });
}

/** The answers, and what the options name beside them. Throws CommandError for a line that both are about. */
export function withNamed(
  answered: readonly ListedEntry[],
  named: readonly ListedEntry[],
): readonly ListedEntry[] {
  const keys = new Set(
    answered.map(({ affiliate_id, currency = '' }) => lineKey({ affiliate_id, currency })),
  );
  const twice = named.find(({ affiliate_id, currency = '' }) =>
    keys.has(lineKey({ affiliate_id, currency })),
  );
  if (twice === undefined) return [...answered, ...named];
  throw new CommandError(
    `${twice.where}: a result file says what became of affiliate ${twice.affiliate_id}; nothing was changed`,
    { code: 'bad_request', reason: 'duplicate_entry' },
  );
}

/** Throws CommandError for lines whose fate nobody knows: they may have been paid. */
export function refuseUnanswered(entries: readonly ListedEntry[], lines: readonly LineName[]): void {
  const known = new Set(
    entries.map(({ affiliate_id, currency = '' }) => lineKey({ affiliate_id, currency })),
  );
  const open = lines.filter((line) => !known.has(lineKey(line)));
  if (open.length === 0) return;
  const who = open.length === 1 ? 'affiliate' : 'affiliates';
  throw new CommandError(
    `nobody says what became of ${who} ${nameSome(open.map(nameOf))}: they may have been paid. Wait for the answer, or name ` +
      'them with --paid or --unpaid; nothing was changed',
    { code: 'bad_request', reason: 'affiliates_missing' },
  );
}

/** What is to be booked as returned once the payout is completed. */
export function toReturn({ lines }: Proposals, status: Payout['status']): PayoutResultLine[] {
  return lines.filter(
    ({ outcome, is_booked }) =>
      !is_booked && (outcome === 'returned' || (outcome === 'rejected' && status === 'paid')),
  );
}

/** Books what came back. */
export async function bookReturns(
  client: Client,
  payout: Pick<Payout, 'id'>,
  lines: readonly PayoutResultLine[],
): Promise<void> {
  for (const { affiliate_id, currency, amount, reason, bank_reference } of lines) {
    await client.payouts.returned(payout.id, affiliate_id, {
      currency,
      amount,
      reason: reason ?? 'the bank sent it back',
      reference: bank_reference,
    });
  }
}
