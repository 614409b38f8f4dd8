import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type {
  Client,
  CompletedPayout,
  CompletePayoutBody,
  Payout,
  PayoutResultLine,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { type MetadataOption, REPLACES, readMetadata, withMetadata } from '../command/metadata.ts';
import { readInteger } from '../command/numbers.ts';
import { collect } from '../command/pairs.ts';
import { withClient } from '../command/session.ts';
import { openSource } from '../command/source-file.ts';
import { findNames } from '../finders/actors.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { count } from '../terminal/money.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { linesOf } from './lines.ts';
import {
  checkComplete,
  type LineName,
  type ListedEntry,
  mergeLists,
  ofLines,
  readPaidFile,
} from './paid-list.ts';
import { paymentFormat, readPaymentFile } from './paid-list-file.ts';
import { type Named, readNamed } from './paid-options.ts';
import {
  bookReturns,
  entriesOf,
  IGNORE_COLUMN,
  isResultFile,
  proposalsOf,
  type ResultFile,
  refuseUnanswered,
  sumsOf,
  toReturn,
  withNamed,
} from './results.ts';
import { describeSignals, signalsOf } from './signal-view.ts';
import { actorsOf, summarizePayout } from './view.ts';
import { refuseWithoutFile } from './without-file.ts';

interface CompleteOptions extends MetadataOption {
  readonly allPaid?: boolean;
  readonly alsoWithoutFile?: boolean;
  readonly paid?: string;
  readonly unpaid?: string;
  readonly from?: readonly string[];
  readonly ignoreColumn?: readonly string[];
  readonly revision?: string;
  readonly paidAt?: string;
  readonly yes?: boolean;
}

const HELP = `






Name every affiliate of the payout as paid or not paid. Lines not paid are released and owed again; paid lines never change. The
command is refused if the payout changed since it was read or, with --revision, since its file was written. 7:usd names only the
line of affiliate 7 in USD. 7:usd=20.00 means that only this amount of it was paid: the rest is owed again.

--all-paid is refused if a line is in no downloaded payment file, because no file paid it. --also-without-file confirms that it was
paid by other means.

--from takes a file that payouts export wrote for PayPal or Wise, unchanged: its lines are paid, all other lines are not. Or a list
with the header affiliate_id,is_paid, optionally with the columns currency, amount and payment_reference, and a line for every
affiliate; is_paid is true or false. With several files, a line is paid if one of them says so, and no line may be paid in two.

Or a result from the bank or provider: a camt.053, camt.054 or pain.002, a NACHA file with returns, the result file of PayPal or Wise, or
your own list with the column reference (P1-A12), in which unknown columns are refused. The command prints it and asks. Returned
payments are recorded. Lines without a result may have been paid, so name them with --paid or --unpaid. payhook payouts results
prints the same and changes no payout.

Examples:
  $ payhook payouts complete current --all-paid
  $ payhook payouts complete current --all-paid --also-without-file   # some by other means
  $ payhook payouts complete 1 --all-paid --unpaid 7       # everybody but affiliate 7
  $ payhook payouts complete 1 --all-paid --unpaid 7:kwd   # everything but the dinars of affiliate 7
  $ payhook payouts complete 1 --paid 1,2,3 --unpaid 4,5
  $ payhook payouts complete 1 --from paypal.csv --from wise.csv
  $ payhook payouts complete 1 --from camt.xml             # what the bank answered
  $ payhook payouts complete 1 --from camt.xml --unpaid 7  # and affiliate 7, of whom it says nothing, was not paid
  $ payhook payouts complete 1 --all-paid --paid-at 2026-09-30
  $ payhook payouts complete 1 --from paid.csv --revision 3 --yes   # does not ask; needed in scripts
`;

/** `payhook payouts complete`. */
export function addComplete(payouts: Command, cli: Cli): void {
  const command = payouts
    .command('complete')
    .description('record who was paid; the payout becomes paid, which is final')
    .argument('<payout>', REFERENCE_HELP)
    .option('--all-paid', 'everybody was paid, except those in --unpaid')
    .option(
      '--also-without-file',
      'with --all-paid: also lines in no downloaded payment file, which were paid by other means',
    )
    .option('--paid <ids>', 'these affiliates were paid, such as 1,2 or 3:usd or 3:usd=20.00')
    .option('--unpaid <ids>', 'these affiliates were not paid')
    .option(
      '--from <file>',
      'read who was paid from a list, a payment file or a result file; - is standard input; may be repeated',
      collect,
    )
    .option(...IGNORE_COLUMN)
    .option('--revision <number>', 'only at this revision, which is in the name of the payment file')
    .option(
      '--paid-at <time>',
      'the payment date: a day, or a time such as 2026-09-30T15:00:00Z; default now',
    );
  withMetadata(command, REPLACES)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (CompletedPayout)')
    .addHelpText('after', HELP)
    .action((reference: string, options: CompleteOptions) =>
      cli.run(() => complete(cli, reference, options)),
    );
}

async function complete(cli: Cli, reference: string, options: CompleteOptions): Promise<undefined> {
  const { terminal } = cli;
  requireYes(terminal, options.yes);
  const revision =
    options.revision === undefined
      ? undefined
      : readInteger('--revision', options.revision, { from: 1, to: 999_999_999 });
  const metadata = readMetadata(options.metadata);
  const listed = await readListed(options);
  const { payout, names } = await withClient(cli, async (client) => {
    const withNames = async (payout: Payout) => ({
      payout,
      names: await findNames(client, actorsOf(payout), terminal),
    });
    const found = await findPayout(client, reference);
    checkRevision(found, revision);
    const known = (await linesOf(client, found, terminal)).flatMap(({ affiliate_id, name, totals }) =>
      totals.map((total) => ({ affiliate_id, name, ...total })),
    );
    const lines = known.map(({ affiliate_id, currency }) => ({ affiliate_id, currency }));
    const { entries: said, isRestUnpaid, results } = listed(found.number, lines);
    const ignored = options.ignoreColumn ?? [];
    const proposals = await proposalsOf(client, found, { files: results, ignored }, terminal);
    const back = toReturn(proposals, found.status);
    if (found.status === 'paid' && results.length > 0)
      return withNames(await bookOnly(client, found, back, { terminal, yes: options.yes }));
    const entries = results.length === 0 ? said : withNamed(entriesOf(proposals), said);
    const all =
      options.allPaid || isRestUnpaid ? withRest(entries, lines, options.allPaid === true) : entries;
    if (found.status === 'unpaid') {
      if (results.length > 0) refuseUnanswered(all, lines);
      checkComplete(all, lines);
      if (options.allPaid && !options.alsoWithoutFile) refuseWithoutFile(all, known);
      const signals = describeSignals(await signalsOf(client, found), found, terminal).trimEnd();
      if (signals !== '') terminal.note(signals);
      await confirm(terminal, question(found, all, { paidAt: options.paidAt, back }), options.yes);
    }
    const done = await settle(client, found, { entries: all, paid_at: options.paidAt, metadata });
    await bookReturns(client, found, back);
    return withNames(done);
  });
  terminal.result(payout, () => summarizePayout(payout, names, terminal));
}

/** Records the returned payments of a completed payout. */
async function bookOnly(
  client: Client,
  payout: Payout,
  back: readonly PayoutResultLine[],
  { terminal, yes }: { terminal: Terminal; yes: boolean | undefined },
): Promise<Payout> {
  if (back.length === 0) {
    terminal.note('There is nothing left to record.');
    return payout;
  }
  const sums = sumsOf(back);
  await confirm(
    terminal,
    `Record ${count(back.length, 'returned payment')} of payout ${payout.number}, ${sums}? The amount is owed again.`,
    yes,
  );
  await bookReturns(client, payout, back);
  return client.payouts.get(payout.id);
}

/** Throws CommandError if an unpaid payout is not at the revision of the paid file. */
function checkRevision({ number, status, revision }: Payout, wanted: number | undefined): void {
  if (wanted === undefined || revision === wanted || status === 'paid') return;
  throw new CommandError(
    `payout ${number} has changed: it is at revision ${revision}, not ${wanted}. Export it again and compare; ` +
      'nothing was changed',
    { code: 'conflict', reason: 'payout_changed' },
  );
}

/** The user's statements about a payout, resolved to one entry per line once its number and lines are known. */
type Listed = (
  number: number,
  lines: readonly LineName[],
) => {
  readonly entries: readonly ListedEntry[];
  /** Whether lines without an entry were not paid, as with a payment file. */
  readonly isRestUnpaid: boolean;
  /** Result files of a bank or provider. */
  readonly results: readonly ResultFile[];
};

/** Reads the options and files, before any request to the server. */
async function readListed({
  allPaid,
  alsoWithoutFile,
  paid,
  unpaid,
  from,
}: CompleteOptions): Promise<Listed> {
  if (alsoWithoutFile && !allPaid) throw new UsageError('--also-without-file needs --all-paid');
  const ways = [allPaid === true, paid !== undefined, from !== undefined].filter(Boolean).length;
  const files = await readFiles(from ?? []);
  const isAnswered = files.some(({ bytes }) => isResultFile(bytes));
  if (from !== undefined && (allPaid === true || (!isAnswered && (ways > 1 || unpaid !== undefined)))) {
    throw new UsageError('--from names everyone: do not add --all-paid, --paid or --unpaid');
  }
  if (ways > 1 && !isAnswered) throw new UsageError('give --all-paid or --paid, not both');
  if (ways === 0 && unpaid === undefined) {
    throw new UsageError('name who was paid: --all-paid, --paid with --unpaid, or --from');
  }
  const entries = (option: string, text: string | undefined, is_paid: boolean) =>
    text === undefined ? [] : readNamed(option, text).map((named) => ({ ...named, is_paid, where: option }));
  const listed = [...entries('--paid', paid, true), ...entries('--unpaid', unpaid, false)];
  refuseTwice(listed);
  if (from === undefined)
    return (_, lines) => ({ entries: ofLines(listed, lines), isRestUnpaid: false, results: [] });
  const read = readLists(files.filter(({ bytes }) => !isResultFile(bytes)));
  const results = files.filter(({ bytes }) => isResultFile(bytes));
  return (number, lines) => {
    const { entries, isRestUnpaid } = read(number, lines);
    const named = [...entries, ...ofLines(listed, lines)];
    return { entries: named, isRestUnpaid: isRestUnpaid && results.length === 0, results };
  };
}

function refuseTwice(listed: readonly (Named & { is_paid: boolean })[]): void {
  const part = listed.find(({ is_paid, amount }) => !is_paid && amount !== undefined);
  if (part)
    throw new UsageError(
      `--unpaid takes no amount: use --paid for a part paid to affiliate ${part.affiliate_id}`,
    );
  listed.forEach(({ affiliate_id: id, currency }, index) => {
    const other = listed
      .slice(0, index)
      .some(
        (each) =>
          each.affiliate_id === id &&
          (each.currency === currency || each.currency === undefined || currency === undefined),
      );
    if (other) throw new UsageError(`affiliate ${id} is named twice`);
  });
}

async function readFiles(paths: readonly string[]): Promise<readonly ResultFile[]> {
  const files: ResultFile[] = [];
  for (const path of paths) files.push({ path, bytes: await buffer(openSource(path).open()) });
  return files;
}

/** Reads paid lists and payment files. */
function readLists(given: readonly ResultFile[]) {
  const files = given.map(({ path, bytes }) => ({
    path,
    bytes,
    list: paymentFormat(bytes) === null ? readPaidFile(bytes) : null,
  }));
  return (number: number, lines: readonly LineName[]) => {
    const lists = files.map(({ path, bytes, list }) => {
      const format = paymentFormat(bytes);
      const entries = list ?? (format === null ? [] : readPaymentFile(format, number, bytes));
      const named = ofLines(entries, lines);
      return files.length === 1
        ? named
        : named.map((entry) => ({ ...entry, where: `${path}: ${entry.where}` }));
    });
    return { entries: mergeLists(lists), isRestUnpaid: files.some(({ list }) => list === null) };
  };
}

/** The entries, plus one for each line that they do not name. */
function withRest(
  entries: readonly ListedEntry[],
  lines: readonly LineName[],
  is_paid: boolean,
): ListedEntry[] {
  const named = new Set(entries.map(({ affiliate_id, currency }) => `${affiliate_id} ${currency}`));
  const rest = lines.filter(({ affiliate_id, currency }) => !named.has(`${affiliate_id} ${currency}`));
  const where = is_paid ? '--all-paid' : 'no file';
  return [...entries, ...rest.map((line) => ({ ...line, is_paid, where }))];
}

function question(
  payout: Payout,
  entries: readonly ListedEntry[],
  { paidAt, back }: { paidAt: string | undefined; back: readonly PayoutResultLine[] },
): string {
  const paid = entries.filter((entry) => entry.is_paid).length;
  const released = entries.length - paid;
  // if everybody gets one currency, each affiliate is one payment
  const came =
    back.length === 0
      ? ''
      : ` ${count(back.length, 'payment')} came back: ${sumsOf(back)} will be recorded as returned.`;
  const noun = entries.length === payout.affiliate_count ? 'affiliate' : 'payment';
  return (
    `Complete payout ${payout.number} (revision ${payout.revision}): ${count(paid, noun)} paid${paidAt === undefined ? '' : ` on ${paidAt}`}, ` +
    `${released} not paid and owed again.${came} A paid payout never changes.`
  );
}

function settle(
  client: Client,
  payout: Payout,
  {
    entries,
    ...about
  }: { entries: readonly ListedEntry[] } & Pick<CompletePayoutBody, 'paid_at' | 'metadata'>,
): Promise<CompletedPayout> {
  const commissions = entries.map(({ where: _, ...entry }) => entry);
  return client.payouts.complete(
    payout.id,
    { commissions, require_all: true, ...about },
    { ifMatch: payout.revision },
  );
}
