import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DownloadPaymentFileQuery, Payout } from '../../client/client.ts';
import {
  type Choice,
  formatsWith,
  PAYMENT_FILES,
  PAYMENT_FORMATS,
  PROVIDER_FORMATS,
  type ProviderFormat,
} from '../../terms/payments.ts';
import { readCurrency } from '../command/amounts.ts';
import type { Cli } from '../command/cli.ts';
import {
  checkOutput,
  type OutputOptions,
  refuseExisting,
  showReceived,
  withOutput,
  writeFiles,
} from '../command/csv-files.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readInteger } from '../command/numbers.ts';
import { withClient } from '../command/session.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { count } from '../terminal/money.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { describeDoubled, describeWarnings } from './doubled.ts';
import { type Format, pipeWhole, type Source, type WrittenFile, writeParts } from './files.ts';
import { linesOf } from './lines.ts';
import { paidList, payeesOf } from './paid-list-file.ts';

interface ExportOptions extends OutputOptions {
  readonly format: Format;
  readonly currency?: string;
  readonly sourceCurrency?: string;
  readonly allowSkipped?: boolean;
  readonly wholeUnits?: boolean;
  readonly rowsPerFile?: string;
  readonly executionDate?: string;
  readonly instant?: boolean;
  readonly paidList?: string;
}

/** The formats that support each choice. */
const takers = (choice: Choice) => formatsWith(({ choices }) => choices.includes(choice));

const ABOUT = {
  commissions: 'a row per commission',
  summary: 'a row per affiliate and currency, for people',
  signals: 'a row per signal: what may point to fraud, and who reviewed it',
  ...Object.fromEntries(PAYMENT_FORMATS.map((format) => [format, PAYMENT_FILES[format].about])),
};

const HELP = `
Formats:
${Object.entries(ABOUT)
  .map(([format, about]) => `  ${format.padEnd(12)} ${about}`)
  .join('\n')}

A payment file has one currency. sepa (or sepa_credit_transfer) is paid from the debtor of the account, nacha from its originator:
payhook account change --debtor, --originator. A file of an unpaid payout has all lines, a file of a paid one the paid lines. If
there are more rows than fit into one file, several are written, all of the same revision.

Exporting again gives the same file, byte for byte, unless something it depends on changed. Then the new file belongs to another file
set. Affiliates in two files that differ are paid twice if you send both, so the command warns you.

If the file cannot pay some affiliates, they are named and nothing is written, unless --allow-skipped leaves them out. --paid-list
writes who is in the file, for payouts complete --from: true with the payment reference, all other lines false. PayPal takes no
fractions of HUF, JPY and TWD: --whole-units pays the whole part, and completing from the file or the list carries the rest over.

Examples:
  $ payhook payouts export current
  $ payhook payouts export 1 --output september.csv
  $ payhook payouts export current --format paypal --currency usd
  $ payhook payouts export current --format sepa --execution-date 2026-10-01
  $ payhook payouts export 1 --format sepa --rows-per-file 500
  $ payhook payouts export current --format sepa --instant
  $ payhook payouts export current --format wise --allow-skipped --paid-list paid.csv
  $ payhook payouts export 1 -o - | head
`;

const FORMATS: readonly Format[] = ['commissions', 'summary', 'signals', ...PAYMENT_FORMATS];
/** The formats by accepted name. `sepa_credit_transfer` is an alias, because SEPA also has other kinds of transfers. */
const FORMAT_NAMES = new Map<string, Format>([
  ...FORMATS.map((format) => [format, format] as const),
  ['sepa_credit_transfer', 'sepa'],
]);

function readFormat(given: string): Format {
  const format = FORMAT_NAMES.get(given);
  if (format === undefined) throw new InvalidArgumentError(`Allowed choices are ${FORMATS.join(', ')}.`);
  return format;
}

/** `payhook payouts export`. */
export function addExport(payouts: Command, cli: Cli): void {
  const command = payouts
    .command('export')
    .description('write a payout to a file: its commissions, or a payment file for PayPal, Wise or a bank')
    .argument('<payout>', REFERENCE_HELP)
    .addOption(
      new Option('--format <format>', 'the kind of file')
        .choices(FORMATS)
        .argParser(readFormat)
        .default('commissions'),
    )
    .option(
      '--currency <currency>',
      'all but commissions, summary and signals: the currency, if the payout has several',
    )
    .option(
      '--source-currency <currency>',
      `${takers('source_currency').join(', ')}: the currency the transfers are paid from; default the currency itself`,
    )
    .option(
      '--allow-skipped',
      'all but commissions, summary and signals: leave out affiliates the file cannot pay',
    )
    .option(
      '--execution-date <day>',
      `${takers('execution_date').join(', ')}: the day on which the bank pays, such as 2026-10-01; default today, for nacha the next banking day`,
    )
    .option(
      '--instant',
      `${takers('instant').join(', ')}: instant transfers; default is_instant of the debtor`,
    )
    .option(
      '--no-instant',
      `${takers('instant').join(', ')}: ordinary transfers, although the debtor says instant`,
    )
    .option('--rows-per-file <number>', 'all but commissions, summary and signals: payments in one file')
    .option(
      '--whole-units',
      `${takers('whole_units').join(', ')}: pay the whole part in currencies without fractions`,
    )
    .option(
      '--paid-list <file>',
      `${PROVIDER_FORMATS.join(', ')}: also write a list of who is in the file, for payouts complete --from`,
    );
  withOutput(command, 'payout-<number>-r<revision>-<day>….csv')
    .option(
      '--json',
      'print {files, skipped_affiliates, affiliates_above_limit, affiliates_in_other_files, file_set_id, replaces_file_set_id, ' +
        'payout_id, revision, format, paid_list}',
    )
    .addHelpText('after', HELP)
    .action((reference: string, options: ExportOptions) => cli.run(() => run(cli, reference, options)));
}

/** The written files, as printed with --json. */
interface Report {
  readonly files: readonly WrittenFile[];
  readonly skipped_affiliates: number;
  readonly affiliates_above_limit: number;
  readonly affiliates_in_other_files: number;
  readonly file_set_id: string | null;
  readonly replaces_file_set_id: string | null;
  readonly payout_id: string;
  readonly revision: number;
  readonly format: Format;
  readonly paid_list: { readonly file: string; readonly paid: number; readonly not_paid: number } | null;
}

async function run(
  { terminal, account }: Cli,
  reference: string,
  options: ExportOptions,
): Promise<undefined> {
  const query = readChoices(options);
  const { format, output } = options;
  checkOutput(options, terminal);
  if (options.paidList !== undefined) refuseExisting(options.paidList, options.force);
  const { payout, report, doubled } = await withClient({ terminal, account }, async (client) => {
    const found = await findPayout(client, reference);
    const source = { client, payout: found, format, query };
    const { files, skipped, aboveLimit, inOtherFiles, fileSet, replacesFileSet, list } =
      output === '-' ? { ...(await pipeWhole(source)), list: null } : await write(source, options, terminal);
    const { id: payout_id, revision } = found;
    const made: Report = {
      files,
      skipped_affiliates: skipped,
      affiliates_above_limit: aboveLimit,
      affiliates_in_other_files: inOtherFiles,
      file_set_id: fileSet,
      replaces_file_set_id: replacesFileSet,
      payout_id,
      revision,
      format,
      paid_list: list,
    };
    const twice = inOtherFiles > 0 ? [await describeDoubled(client, found, made)] : [];
    const warned = isOfBank(format) ? await describeWarnings(client, found, format) : [];
    return { payout: found, report: made, doubled: [...twice, ...warned] };
  });
  if (output !== '-') terminal.result(report, () => namesOf(report).join(''));
  for (const remark of [...doubled, ...remarksOn(payout, report, query.currency)]) terminal.note(remark);
}

/** The choices for the API. Throws UsageError for a choice that the format does not support. */
function readChoices(options: ExportOptions): DownloadPaymentFileQuery {
  const {
    format,
    currency,
    sourceCurrency,
    allowSkipped,
    wholeUnits,
    executionDate,
    instant,
    rowsPerFile,
    paidList: list,
  } = options;
  const refuse = (option: string, given: unknown, formats: readonly Format[]) => {
    if (given === undefined || formats.includes(format)) return;
    throw new UsageError(`${option} needs --format ${formats.join(' or ')}`);
  };
  refuse('--currency', currency, takers('currency'));
  refuse('--source-currency', sourceCurrency, takers('source_currency'));
  refuse('--allow-skipped', allowSkipped, takers('allow_skipped'));
  refuse('--rows-per-file', rowsPerFile, takers('rows_per_file'));
  refuse('--whole-units', wholeUnits, takers('whole_units'));
  refuse('--execution-date', executionDate, takers('execution_date'));
  refuse(instant === false ? '--no-instant' : '--instant', instant, takers('instant'));
  refuse('--paid-list', list, PROVIDER_FORMATS);
  // if the list failed at the end, the bytes on standard output could not be taken back
  if (list !== undefined && options.output === '-')
    throw new UsageError('--paid-list cannot be used with -o -');
  if (list === '-') throw new UsageError('--paid-list must be a file');
  const code = (option: string, text: string | undefined) =>
    text === undefined ? undefined : readCurrency(option, text);
  return {
    currency: code('--currency', currency),
    source_currency: code('--source-currency', sourceCurrency),
    rows_per_file:
      rowsPerFile === undefined
        ? undefined
        : readInteger('--rows-per-file', rowsPerFile, { from: 2, to: 100_000 }),
    allow_skipped: allowSkipped,
    whole_units: wholeUnits ? 'down' : undefined,
    execution_date: executionDate,
    instant,
  };
}

const isOfBank = (format: Format): boolean =>
  formatsWith(({ kind }) => kind === 'bank').some((each) => each === format);

const isProvider = (format: Format): format is ProviderFormat =>
  (PROVIDER_FORMATS as readonly string[]).includes(format);

/** Writes the files and, if requested, the paid list: all of them, or none. */
function write(source: Source, options: ExportOptions, terminal: Terminal) {
  const { payout, format, client, query } = source;
  return writeFiles(options, async (files) => {
    const { output, paidList: target } = options;
    if (target === undefined || !isProvider(format)) {
      const written = await showReceived(terminal, (receive) =>
        writeParts(source, { output, files, receive }),
      );
      return { ...written, list: null };
    }
    refuseSettled(payout);
    const lines = await linesOf(client, payout, terminal);
    const payees = payeesOf(format, payout.number);
    const { files: written, ...about } = await showReceived(terminal, (receive) =>
      writeParts(source, {
        output,
        files,
        receive: (name, stream) => payees.through(receive(name, stream)),
      }),
    );
    const currency = query.currency ?? payout.totals[0]?.currency ?? '';
    const list = paidList(lines, {
      number: payout.number,
      currency,
      skipped: about.skipped,
      amounts: payees.amounts,
    });
    await files.write(target, list.csv);
    return {
      files: written,
      ...about,
      list: { file: target, paid: list.paid, not_paid: list.notPaid },
    };
  });
}

function refuseSettled({ number, status }: Payout): void {
  if (status === 'unpaid') return;
  throw new CommandError(`payout ${number} is paid, so a list of who was paid is not needed`, {
    code: 'conflict',
    reason: 'payout_is_paid',
  });
}

function namesOf({ files, paid_list }: Report): string[] {
  return [...files, ...(paid_list === null ? [] : [paid_list])].map(({ file }) => `${file}\n`);
}

/** Warnings about affiliates that the file does not pay, or may not pay. */
function remarksOn(payout: Payout, report: Report, currency: string | undefined): string[] {
  const { skipped_affiliates: skipped, affiliates_above_limit: above, paid_list: list } = report;
  const remarks: string[] = [];
  if (skipped > 0) {
    const [are, them] = skipped === 1 ? ['is', 'it'] : ['are', 'them'];
    const unpaid = payout.status === 'paid' ? '' : `, or complete the payout with ${them} as not paid`;
    remarks.push(
      `${count(skipped, 'affiliate')} of this payout ${are} NOT paid by the file: pay ${them} ` +
        `in another way${unpaid}. Run the command without --allow-skipped to see who.`,
    );
  }
  if (above > 0) {
    remarks.push(
      `${count(above, 'payment')} in the file ${above === 1 ? 'is' : 'are'} above PayPal's limit for one payment, and may be ` +
        'refused there: payhook account show prints the limit. Pay a part, and complete with that amount.',
    );
  }
  const others = payout.totals.map((total) => total.currency).filter((code) => code !== currency);
  if (currency !== undefined && others.length > 0) {
    const codes = others.map((code) => code.toUpperCase()).join(', ');
    remarks.push(`The payout also has lines in ${codes}, which need their own files.`);
  }
  if (list !== null) {
    const complete = `payhook payouts complete ${payout.number} --from ${list.file} --revision ${payout.revision}`;
    const more = list.not_paid > 0 ? ', with one --from for the list of each other paid file' : '';
    remarks.push(
      `${list.file}: ${list.paid} paid, ${list.not_paid} not. After the payment: ${complete}${more}`,
    );
  }
  return remarks;
}
