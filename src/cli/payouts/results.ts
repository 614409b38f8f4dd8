import type { Client, Payout, PayoutResultLine, PayoutResultProposal } from '../../client/client.ts';
import { nameSome } from '../../kernel/errors.ts';
import { lineKey, mergeAnswers } from '../../terms/payment-answers.ts';
import { formatOfPaymentFile } from '../../terms/payments.ts';
import { correctionTable } from '../affiliates/corrections.ts';
import { CommandError } from '../command/errors.ts';
import { collect } from '../command/pairs.ts';
import { amounts, count, decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';
import type { LineName, ListedEntry } from './paid-list.ts';
import { RESULT_WORDS, VERIFICATIONS, verificationTable } from './verification-view.ts';

/** A result file of a bank or provider. */
export interface ResultFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/**
 * Whether the server reads these bytes as a result file. Others are payment files, and lists by `affiliate_id` without a
 * reference.
 */
export function isResultFile(bytes: Buffer): boolean {
  const start = bytes
    .subarray(0, 4096)
    .toString('utf8')
    .replaceAll(/[\0\uFEFF\uFFFD]/g, '')
    .trimStart();
  if (start.startsWith('<')) return true;
  if (formatOfPaymentFile(start) !== null) return false;
  const [first = ''] = start.split(/\r\n|\r|\n/, 1);
  const names = first.split(/[,;\t|]/).map((cell) => cell.toLowerCase().replaceAll(/[^a-z]/g, ''));
  return names.includes('reference') || !(names.includes('affiliateid') || names.includes('ispaid'));
}

/** The proposals of the files, by line of the payout. */
export interface Proposals {
  readonly lines: readonly PayoutResultLine[];
}

const nameOf = ({ affiliate_id, currency }: LineName) => `${affiliate_id} in ${currency.toUpperCase()}`;

/**
 * Sends the files to the server, prints the results of each, and merges them. Throws CommandError if files contradict each
 * other.
 */
export async function proposalsOf(
  client: Client,
  payout: Payout,
  { files, ignored }: { readonly files: readonly ResultFile[]; readonly ignored: readonly string[] },
  terminal: Terminal,
): Promise<Proposals> {
  const found: PayoutResultProposal[] = [];
  for (const { path, bytes } of files) {
    const proposal = await takeResult(client, payout, { bytes, ignored });
    terminal.note(describeProposal(path, proposal, terminal));
    found.push(proposal);
  }
  const { answers, contradictions, doubted } = mergeAnswers(found);
  if (doubted.length > 0)
    terminal.note(
      `${terminal.paint.warning('Check:')} the files leave open whether these affiliates were paid: ${nameSome(doubted.map(nameOf))}`,
    );
  if (contradictions.length === 0) return { lines: [...answers.values()] };
  throw new CommandError(
    `the files contradict each other: affiliates ${nameSome(contradictions.map(nameOf))} are rejected in one and paid in ` +
      'another; nothing was changed',
    { code: 'bad_request', reason: 'duplicate_entry' },
  );
}

/** Sends a file to the server. `ignored` names columns of your own list that say nothing about payments. */
export function takeResult(
  client: Client,
  { id }: Pick<Payout, 'id'>,
  { bytes, ignored }: { readonly bytes: Buffer; readonly ignored: readonly string[] },
): Promise<PayoutResultProposal> {
  return client.payouts.takeResult(id, bytes, ignored.length === 0 ? {} : { ignore_columns: ignored.join() });
}

/** The sums of lines by currency, in one line. */
export function sumsOf(lines: readonly PayoutResultLine[]): string {
  const sums = new Map<string, number>();
  for (const { currency, amount } of lines) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  return amounts([...sums].map(([currency, amount]) => ({ currency, amount })));
}

/** The option for columns of your own list. */
export const IGNORE_COLUMN = [
  '--ignore-column <name>',
  'a column of your own list that says nothing about payments; may be repeated',
  collect,
] as const;

const MOST_SHOWN = 50;

/** The results of a file as text: every line that needs attention, and the others as sums. */
export function describeProposal(path: string, proposal: PayoutResultProposal, terminal: Terminal): string {
  const { kind, lines, counts, problems, outdated_revisions, uploaded_before, verifications, corrections } =
    proposal;
  const { paint } = terminal;
  const paid = lines.filter(({ outcome }) => outcome === 'paid');
  const others = lines.filter(({ outcome }) => outcome !== 'paid');
  const warnings = [
    ...(uploaded_before === null
      ? []
      : [`the same file was read before, on ${shortTime(uploaded_before)} (UTC)`]),
    ...outdated_revisions.map(
      (revision) => `it reports on revision ${revision}, and the payout has changed since`,
    ),
    ...problems
      .slice(0, MOST_SHOWN)
      .map(({ reference, message }) =>
        printable(reference === null || message.includes(reference) ? message : `${reference}, ${message}`),
      ),
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
  const head = `${paint.strong(printable(path))} (${kind}): `;
  const payees = verifications.length === 0 ? [] : [describePayees(verifications, terminal)];
  const proposed =
    corrections.length === 0
      ? []
      : [
          `Banks corrected where ${count(corrections.length, 'affiliate')} ${corrections.length === 1 ? 'is' : 'are'} paid. To decide: payhook affiliates corrections accept|dismiss <correction>`,
          correctionTable(corrections.slice(0, MOST_SHOWN), paint.faint).trimEnd(),
        ];
  const notes = warnings.map((text) => `${paint.warning('Look:')} ${text}`);
  if (kind === 'verification')
    return [`${head}it says nothing about payments`, ...payees, ...notes].join('\n');
  return [
    `${head}${count(paid.length, 'payment')} paid${
      paid.length === 0 ? '' : `, ${sumsOf(paid)}`
    }; ${counts.rejected} rejected, ${counts.returned} returned, ${counts.pending} pending, ${counts.unanswered} without an answer${
      counts.others === 0
        ? ''
        : `; ${counts.others} ${counts.others === 1 ? 'entry is' : 'entries are'} not for this payout`
    }`,
    ...(rows.length === 0 ? [] : [table(columns, rows, paint.faint).trimEnd()]),
    ...(others.length > MOST_SHOWN ? [`and ${others.length - MOST_SHOWN} more`] : []),
    ...payees,
    ...proposed,
    ...notes,
  ].join('\n');
}

/** What banks answered about the names of payees: the number of each result, and those that do not match. */
function describePayees(verifications: PayoutResultProposal['verifications'], { paint }: Terminal): string {
  const others = verifications.filter(({ result }) => result !== 'match');
  const numbers = VERIFICATIONS.map(
    (each) => `${verifications.filter(({ result }) => result === each).length} ${RESULT_WORDS[each]}`,
  );
  return [
    `Payees: ${numbers.join(', ')}`,
    ...(others.length === 0 ? [] : [verificationTable(others.slice(0, MOST_SHOWN), paint.faint).trimEnd()]),
    ...(others.length > MOST_SHOWN ? [`and ${others.length - MOST_SHOWN} more`] : []),
  ].join('\n');
}

/** The results as entries to complete a payout. A returned payment was paid first. Pending lines have no entry. */
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

/** The results plus the entries of the options. Throws CommandError for a line in both. */
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
    `${twice.where}: a result file already has a result for affiliate ${twice.affiliate_id}; nothing was changed`,
    { code: 'bad_request', reason: 'duplicate_entry' },
  );
}

/** Throws CommandError for lines without a result: they may have been paid. */
export function refuseUnanswered(entries: readonly ListedEntry[], lines: readonly LineName[]): void {
  const known = new Set(
    entries.map(({ affiliate_id, currency = '' }) => lineKey({ affiliate_id, currency })),
  );
  const open = lines.filter((line) => !known.has(lineKey(line)));
  if (open.length === 0) return;
  const who = open.length === 1 ? 'affiliate' : 'affiliates';
  throw new CommandError(
    `there is no result for ${who} ${nameSome(open.map(nameOf))}: they may have been paid. Wait for the result, or name ` +
      'them with --paid or --unpaid; nothing was changed',
    { code: 'bad_request', reason: 'affiliates_missing' },
  );
}

/** The returned payments to record once the payout is completed. */
export function toReturn({ lines }: Proposals, status: Payout['status']): PayoutResultLine[] {
  return lines.filter(
    ({ outcome, is_booked }) =>
      !is_booked && (outcome === 'returned' || (outcome === 'rejected' && status === 'paid')),
  );
}

/** Records returned payments. */
export async function bookReturns(
  client: Client,
  payout: Pick<Payout, 'id'>,
  lines: readonly PayoutResultLine[],
): Promise<void> {
  for (const { affiliate_id, currency, amount, reason, bank_reference } of lines) {
    await client.payouts.returned(payout.id, affiliate_id, {
      currency,
      amount,
      reason: reason ?? 'returned by the bank',
      reference: bank_reference,
    });
  }
}
