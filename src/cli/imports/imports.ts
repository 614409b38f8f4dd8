import type { Command } from 'commander';
import type { AffiliateImport, Client, CommissionImport, UploadSource } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { withClient } from '../command/session.ts';
import { openSource } from '../command/source-file.ts';
import { count, decimal } from '../terminal/money.ts';
import { startProgress } from '../terminal/progress.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Report = AffiliateImport | CommissionImport;

interface ImportOptions {
  readonly dry_run: boolean;
  readonly partial: boolean;
}

type Upload = (client: Client, file: UploadSource, options: ImportOptions) => Promise<Report>;

const RULES = `
One transaction: if any line is bad, nothing is written, unless --partial is given. Importing the same file again changes
nothing. The exit code is 1 when a line was refused, also with --dry-run and --partial.
`;

const AFFILIATES_HELP = `
Creates affiliates, or updates those with the same external_id, else the same e-mail address.
Columns: email, and any of external_id, name_first, name_last, slug, paypal_email, payout_method (paypal, wise,
other), is_ready_for_payout (true, false), status (active, inactive), legal_type (person, business), country (two letters).
UTF-8, comma-separated, first line = columns.
${RULES}
Examples:
  $ payhook affiliates import affiliates.csv --dry-run
  $ payhook affiliates import affiliates.csv
  $ zcat affiliates.csv.gz | payhook affiliates import -
`;

const COMMISSIONS_HELP = `
Columns: external_id; one of affiliate_id, affiliate_email, affiliate_external_id; amount as a decimal (31.90), or
sale_amount with rate_bps; and any of currency, program_id, type, order_id, order_line_id, customer_email, product_id, product_name,
description, occurred_at. UTF-8, comma-separated, first line = columns.
${RULES}
Examples:
  $ payhook commissions import commissions.csv --dry-run
  $ payhook commissions import commissions.csv --json
`;

/** `payhook affiliates import`. */
export function addAffiliateImport(affiliates: Command, cli: Cli): void {
  addImport(
    affiliates,
    cli,
    { what: 'affiliates', record: 'AffiliateImport', help: AFFILIATES_HELP },
    (client, file, options) => client.affiliates.import(file, options),
  );
}

/** `payhook commissions import`. */
export function addCommissionImport(commissions: Command, cli: Cli): void {
  addImport(
    commissions,
    cli,
    { what: 'commissions', record: 'CommissionImport', help: COMMISSIONS_HELP },
    (client, file, options) => client.commissions.import(file, options),
  );
}

function addImport(
  parent: Command,
  cli: Cli,
  { what, record, help }: { what: string; record: string; help: string },
  upload: Upload,
): void {
  parent
    .command('import')
    .description(`import ${what} from a CSV file`)
    .argument('<file>', 'the CSV file; - is standard input')
    .option('--dry-run', 'check every line and write nothing')
    .option('--partial', 'write the good lines even if others are bad')
    .option('--json', `print the report (${record})`)
    .addHelpText('after', help)
    .action((path: string, { dryRun = false, partial = false }: { dryRun?: boolean; partial?: boolean }) =>
      cli.run(() => runImport(cli, path, { dry_run: dryRun, partial }, upload)),
    );
}

async function runImport(cli: Cli, path: string, options: ImportOptions, upload: Upload): Promise<number> {
  const { terminal } = cli;
  const source = openSource(path);
  const report = await withClient({ terminal, account: cli.account() }, async (client) => {
    const progress = await startProgress(terminal, path === '-' ? 'standard input' : path, source.bytes);
    try {
      return await upload(client, { ...source, onProgress: progress.update }, options);
    } finally {
      progress.stop();
    }
  });
  terminal.result(report, () => describeReport(report, terminal));
  return report.failed > 0 ? 1 : 0;
}

function describeReport(report: Report, { paint }: Terminal): string {
  const updated = report.object === 'affiliate_import' ? `, ${report.updated} updated` : '';
  const counts = `${report.created} created${updated}, ${report.unchanged} unchanged, ${report.failed} bad`;
  const head = `${paint.strong(count(report.lines, 'line'))}: ${counts}\n`;
  const tail = report.dry_run ? 'Dry run: nothing was written.\n' : '';
  return head + describeTotals(report, paint.faint) + describeBad(report, paint.bad) + tail;
}

function describeTotals(report: Report, paintHeading: (text: string) => string): string {
  if (report.object !== 'commission_import' || report.totals.length === 0) return '';
  const rows = report.totals.map((total) => [
    total.currency.toUpperCase(),
    decimal(total),
    String(total.count),
  ]);
  return table(
    [{ heading: 'CURRENCY' }, { heading: 'AMOUNT', right: true }, { heading: 'COMMISSIONS', right: true }],
    rows,
    paintHeading,
  );
}

function describeBad(report: Report, paint: (text: string) => string): string {
  const lines = report.errors.map(({ line, message }) => `${paint(`line ${line}:`)} ${printable(message)}\n`);
  const rest = report.failed - lines.length;
  return lines.join('') + (rest > 0 ? `and ${rest} more bad lines\n` : '');
}
