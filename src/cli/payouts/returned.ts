import type { Command } from 'commander';
import type { Client, ListPayoutReturnsQuery, Payout, PayoutLine } from '../../client/client.ts';
import { DECIMAL_HELP, readAmount, readCurrency } from '../command/amounts.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { amounts } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import { returnTable } from './return-view.ts';

/** Options that name an affiliate of a payout. */
interface LineReference {
  readonly payout: string;
  readonly affiliate: string;
}

interface ReturnedOptions {
  readonly reason: string;
  readonly reference?: string;
  readonly externalId?: string;
  readonly currency?: string;
  readonly amount?: string;
  readonly yes?: boolean;
}

interface ReturnFilters extends ListOptions {
  readonly currency?: string;
}

const RETURNED_HELP = `
Records that the payment to an affiliate came back: all of it, one currency, or a part, as often as needed. The next payout pays it
again, even below the minimum. The paid payout does not change. With --external-id, repeating the command records it only once.

Examples:
  $ payhook payouts returned 1 ada@example.com --reason "account closed"
  $ payhook payouts returned 1 7 --currency usd --amount 12.50 --reason "fee of the bank" --external-id bank-4711 --yes
`;

/** `payhook payouts returned` and `payhook payouts returns list|undo`. */
export function addReturned(payouts: Command, cli: Cli): void {
  payouts
    .command('returned')
    .description('record a returned payment, so that the affiliate is owed it again')
    .argument('<payout>', REFERENCE_HELP)
    .argument('<affiliate>', AFFILIATE_HELP)
    .requiredOption('--reason <text>', 'why it was returned')
    .option('--reference <text>', 'the reference of the bank')
    .option('--external-id <id>', 'your own id of this return; repeating it records nothing')
    .option('--currency <currency>', 'only the payment in this currency')
    .option('--amount <amount>', `the returned amount, ${DECIMAL_HELP}`)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the line (PayoutLine)')
    .addHelpText('after', RETURNED_HELP)
    .action((payout: string, affiliate: string, options: ReturnedOptions) =>
      cli.run(() => book(cli, { payout, affiliate }, options)),
    );
  const returns = payouts.command('returns').description('the returned payments of a payout');
  addList(returns, cli);
  addUndo(returns, cli);
}

function addList(returns: Command, cli: Cli): void {
  const list = returns
    .command('list')
    .description('list the returned payments of an affiliate, newest first')
    .argument('<payout>', REFERENCE_HELP)
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('--currency <currency>', 'only in this currency');
  withPages(list, { nouns: 'returns', sort: 'id, returned_at, amount' })
    .option('--json', 'print the page (a list of PayoutReturn)')
    .addHelpText('after', '\nExample:\n  $ payhook payouts returns list 1 ada@example.com\n')
    .action((payout: string, affiliate: string, options: ReturnFilters) =>
      cli.run(() => listReturns(cli, { payout, affiliate }, options)),
    );
}

function addUndo(returns: Command, cli: Cli): void {
  returns
    .command('undo')
    .description('undo a return recorded by mistake, unless it was paid again')
    .argument('<payout>', REFERENCE_HELP)
    .argument('<affiliate>', AFFILIATE_HELP)
    .argument('<return>', 'its id (ret_…): payhook payouts returns list shows it')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, undone}')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook payouts returns undo 1 ada@example.com ret_0199d2c4a7f07a3b9c5d1e2f30415263\n',
    )
    .action((payout: string, affiliate: string, id: string, { yes }: { yes?: boolean }) =>
      cli.run(() => undo(cli, { payout, affiliate }, id, yes)),
    );
}

async function book(
  { terminal, account }: Cli,
  references: LineReference,
  { reason, reference, externalId, yes, ...part }: ReturnedOptions,
): Promise<undefined> {
  requireYes(terminal, yes);
  const { line, came } = await withClient({ terminal, account }, async (client) => {
    const { payout, line: found } = await findLine(client, references);
    const { input, sums } = readPart(found, part);
    const came = amounts(sums);
    const question = `Record that ${came} of payout ${payout.number} came back from ${nameOf(found)}? ${owedAgain(found)}`;
    // without lines, the server's error explains it
    if (sums.length > 0) await confirm(terminal, question, yes);
    const body = { ...input, reason, reference, external_id: externalId };
    return { line: await client.payouts.returned(payout.id, found.affiliate_id, body), came };
  });
  terminal.result(
    line,
    () =>
      `${came} came back from ${nameOf(line)}${hasTax(line) ? `. ${owedAgain(line)}` : ' and is owed again.'}\n`,
  );
}

/** What is owed again of money that came back. */
const owedAgain = (line: PayoutLine): string =>
  hasTax(line)
    ? 'The amount without a tax on top, and with what was withheld, is owed again.'
    : 'The amount is owed again.';
const hasTax = ({ totals }: PayoutLine) => totals.some(({ with_tax }) => with_tax !== undefined);

/** The payout and the affiliate's line in it. Throws CommandError if there is none. */
async function findLine(
  client: Client,
  { payout: reference, affiliate }: LineReference,
): Promise<{ payout: Payout; line: PayoutLine }> {
  const payout = await findPayout(client, reference);
  const affiliate_id = await findAffiliate(client, affiliate);
  const [line] = (await client.payouts.affiliates(payout.id, { affiliate_id })).data;
  if (line !== undefined) return { payout, line };
  throw new CommandError(`affiliate ${affiliate_id} is not in payout ${payout.number}`, {
    code: 'not_found',
    reason: 'resource_missing',
  });
}

/**
 * The returned amount, for the request body and as text. An amount is in the named currency, or in the only one of the
 * line. Throws a UsageError if the currency is ambiguous; the server validates the rest.
 */
function readPart(line: PayoutLine, { currency, amount }: Pick<ReturnedOptions, 'currency' | 'amount'>) {
  const code = currency === undefined ? undefined : readCurrency('--currency', currency);
  if (amount === undefined) {
    const open = line.totals
      .filter((total) => code === undefined || total.currency === code)
      .map(({ currency: of, with_tax, ...total }) => {
        const { paid_amount, returned_amount } = with_tax ?? total;
        return { currency: of, amount: paid_amount - returned_amount };
      })
      .filter((rest) => rest.amount > 0);
    return { input: { currency: code }, sums: open };
  }
  const paid = line.totals.filter((total) => total.is_paid).map((total) => total.currency);
  if (code === undefined && paid.length > 1) {
    throw new UsageError(`give the --currency of the --amount: ${paid.join(' or ')}`);
  }
  const of = code ?? paid[0] ?? line.totals[0]?.currency ?? '';
  const given = { currency: of, amount: readAmount('--amount', amount, { currency: of, from: 1 }) };
  return { input: given, sums: [given] };
}

async function listReturns(
  { terminal, account }: Cli,
  references: LineReference,
  options: ReturnFilters,
): Promise<undefined> {
  const page = await withClient({ terminal, account }, async (client) => {
    const { payout, line } = await findLine(client, references);
    return client.payouts.returns(payout.id, line.affiliate_id, queryOf<ListPayoutReturnsQuery>(options));
  });
  terminal.result(page, () => describePage(page, 'return', (data) => returnTable(data, terminal), terminal));
}

async function undo(
  { terminal, account }: Cli,
  references: LineReference,
  id: string,
  yes?: boolean,
): Promise<undefined> {
  requireYes(terminal, yes);
  const line = await withClient({ terminal, account }, async (client) => {
    const found = await findLine(client, references);
    const question = `Undo the return ${printable(id)} of ${nameOf(found.line)}? The amount will no longer be owed.`;
    await confirm(terminal, question, yes);
    await client.payouts.undoReturn(found.payout.id, found.line.affiliate_id, id);
    return found.line;
  });
  terminal.result(
    { id, object: 'payout_return', undone: true },
    () => `Undid the return ${printable(id)} of ${nameOf(line)}.\n`,
  );
}

function nameOf({ affiliate_id, name, email }: PayoutLine): string {
  const who = name ?? email;
  return `affiliate ${affiliate_id}${who === null ? '' : ` (${printable(who)})`}`;
}
