import { type Command, Option } from 'commander';
import type { InvoiceRateInput, ListInvoicesQuery } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { checkOutput, type OutputOptions, saveReceived, withOutput } from '../command/csv-files.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { collect, readPairs } from '../command/pairs.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findInvoice, INVOICE_HELP } from '../finders/invoice.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { issueAll } from './issue.ts';
import { describeInvoice, describeIssued, invoiceTable } from './view.ts';

interface InvoiceFilters extends ListOptions {
  readonly payout?: string;
  readonly affiliate?: string;
  readonly currency?: string;
  readonly kind?: 'invoice' | 'credit_note';
}

interface RateOptions {
  readonly rate?: readonly string[];
  readonly rateDate?: string;
  readonly rateSource?: string;
}

interface ExportOptions extends OutputOptions {
  readonly payout: string;
  readonly format: keyof typeof WRITTEN_AS;
}

const ISSUE_HELP = `
Issues an invoice for each paid line whose affiliate agreed to self-billing by the day of the payment. The amount paid includes the
tax by the rules of the account (payhook account change --invoicing). Lists affiliates without an invoice and the reasons. Run it as
often as you like: no invoice is issued twice. When the payment of an invoiced line is returned, its credit note is issued at once.

An invoice with VAT must state it in the currency of the supplier's country (members of the EU, GB). If the payment was in another,
give the rate: what one unit of the currency is worth, who published it and when. Without it the line has no invoice.

Examples:
  $ payhook invoices issue 12
  $ payhook invoices issue 12 --rate usd/eur=0.8675 --rate-date 2026-11-26 --rate-source ECB
`;

const WRITTEN_AS = {
  pdf: 'as PDF/A-3 with embedded XML',
  xml: 'as EN 16931 XML',
  ubl: 'as UBL of Peppol BIS Self-Billing 3, for your access point',
} as const;

/** `payhook invoices list|show|issue|pdf|xml|ubl|export`. */
export function addInvoices(invoices: Command, cli: Cli): void {
  withPages(invoices.command('list').description('list invoices and credit notes, newest first'), {
    nouns: 'invoices',
    sort: 'id, amount',
  })
    .option('--payout <payout>', `only those of a payout: ${REFERENCE_HELP}`)
    .option('--affiliate <affiliate>', `only those of an affiliate: ${AFFILIATE_HELP}`)
    .option('--currency <currency>', 'only this currency')
    .addOption(new Option('--kind <kind>', 'only this kind').choices(['invoice', 'credit_note']))
    .option('--json', 'print the page (a list of Invoice)')
    .addHelpText('after', '\nExamples:\n  $ payhook invoices list --payout 12\n')
    .action((options: InvoiceFilters) => cli.run(() => list(cli, options)));
  invoices
    .command('show')
    .description('show an invoice or a credit note')
    .argument('<invoice>', INVOICE_HELP)
    .option('--json', 'print the record (Invoice)')
    .addHelpText('after', '\nExample:\n  $ payhook invoices show SB-2026-000001\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
  invoices
    .command('issue')
    .description('issue the invoices of a paid payout')
    .argument('<payout>', REFERENCE_HELP)
    .option('--rate <pair>', 'an exchange rate, such as usd/eur=0.8675; repeat it for more', collect)
    .option('--rate-date <day>', 'the day of the rates, YYYY-MM-DD, within 31 days of the payment')
    .option('--rate-source <name>', 'who published the rates, such as ECB')
    .option('--json', 'print {object, issued, skipped, has_more}')
    .addHelpText('after', ISSUE_HELP)
    .action((reference: string, options: RateOptions) => cli.run(() => issue(cli, reference, options)));
  for (const format of ['pdf', 'xml', 'ubl'] as const) {
    const what = WRITTEN_AS[format];
    withOutput(
      invoices
        .command(format)
        .description(`write an invoice to a file, ${what}`)
        .argument('<invoice>', INVOICE_HELP),
      format === 'ubl' ? 'invoice-…-ubl.xml' : `invoice-….${format}`,
    )
      .option('--json', 'print {file, bytes}')
      .addHelpText('after', `\nExample:\n  $ payhook invoices ${format} SB-2026-000001\n`)
      .action((reference: string, options: OutputOptions) =>
        cli.run(() => save(cli, { reference, format }, options)),
      );
  }
  addExport(invoices, cli);
}

const EXPORT_HELP = `
Invoices that cannot be written are in skipped.csv in the archive, with the reasons.

Example:
  $ payhook invoices export --format ubl --payout 12
`;

function addExport(invoices: Command, cli: Cli): void {
  withOutput(
    invoices
      .command('export')
      .description('write the invoices and credit notes of a payout to a zip archive, a file for each')
      .requiredOption('--payout <payout>', REFERENCE_HELP)
      .addOption(
        new Option('--format <format>', 'pdf, xml or ubl, as the commands of these names write it')
          .choices(['pdf', 'xml', 'ubl'])
          .default('pdf'),
      ),
    'payout-…-invoices-….zip',
  )
    .option('--json', 'print {file, bytes}')
    .addHelpText('after', EXPORT_HELP)
    .action((options: ExportOptions) => cli.run(() => exportAll(cli, options)));
}

/** Throws a UsageError if an option is missing or malformed. */
function ratesFrom({ rate, rateDate, rateSource }: RateOptions): InvoiceRateInput[] {
  if (rate === undefined && rateDate === undefined && rateSource === undefined) return [];
  if (rate === undefined || rateDate === undefined || rateSource === undefined)
    throw new UsageError('--rate, --rate-date and --rate-source go together');
  return Object.entries(readPairs('--rate', rate, '=') ?? {}).map(([pair, value]) => {
    const [currency = '', national = '', ...more] = pair.split('/');
    if (national === '' || more.length > 0)
      throw new UsageError(`--rate must look like usd/eur=0.8675, not ${pair}=${value}`);
    return { currency, national_currency: national, rate: value, quoted_on: rateDate, source: rateSource };
  });
}

async function list({ terminal, account }: Cli, options: InvoiceFilters): Promise<undefined> {
  const { payout, affiliate, ...rest } = options;
  const page = await withClient({ terminal, account }, async (client) =>
    client.invoices.list({
      ...queryOf<ListInvoicesQuery>(rest),
      payout_id: payout === undefined ? undefined : (await findPayout(client, payout)).id,
      affiliate_id: affiliate === undefined ? undefined : await findAffiliate(client, affiliate),
    }),
  );
  terminal.result(page, () =>
    describePage(page, 'invoice', (data) => invoiceTable(data, terminal), terminal),
  );
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const found = await withClient({ terminal, account }, (client) => findInvoice(client, reference));
  terminal.result(found, () => describeInvoice(found, terminal));
}

async function issue(
  { terminal, account }: Cli,
  reference: string,
  options: RateOptions,
): Promise<undefined> {
  const rates = ratesFrom(options);
  const issued = await withClient({ terminal, account }, async (client) =>
    issueAll(client, (await findPayout(client, reference)).id, { rates }),
  );
  terminal.result(issued, () => describeIssued(issued));
}

async function save(
  { terminal, account }: Cli,
  { reference, format }: { reference: string; format: keyof typeof WRITTEN_AS },
  options: OutputOptions,
): Promise<undefined> {
  checkOutput(options, terminal);
  await withClient({ terminal, account }, async (client) => {
    const { id } = await findInvoice(client, reference);
    const written = await saveReceived(terminal, options, () => client.invoices.file(id, { format }));
    if (written !== null) terminal.result(written, () => `${written.file}\n`);
  });
}

async function exportAll({ terminal, account }: Cli, options: ExportOptions): Promise<undefined> {
  const { payout, format } = options;
  checkOutput(options, terminal);
  await withClient({ terminal, account }, async (client) => {
    const { id } = await findPayout(client, payout);
    const written = await saveReceived(terminal, options, () => client.invoices.archive(id, { format }));
    if (written !== null) terminal.result(written, () => `${written.file}\n`);
  });
}
