import { type Command, Option } from 'commander';
import type { DestinationCorrection, ListDestinationCorrectionsQuery } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { printable, table } from '../terminal/table.ts';

interface CorrectionFilters extends ListOptions {
  readonly affiliate?: string;
  readonly status?: DestinationCorrection['status'];
}

/** `payhook affiliates corrections list|accept|dismiss`. */
export function addCorrections(affiliates: Command, cli: Cli): void {
  const group = affiliates
    .command('corrections')
    .description('what banks corrected in where affiliates are paid');
  const list = group
    .command('list')
    .description('list what banks corrected, those due first')
    .option('--affiliate <affiliate>', `only of this one: ${AFFILIATE_HELP}`)
    .addOption(
      new Option('--status <status>', 'only with this status').choices([
        'open',
        'outdated',
        'accepted',
        'dismissed',
      ]),
    );
  withPages(list, { nouns: 'corrections', sort: 'due_on, id' })
    .option('--json', 'print the page (a list of DestinationCorrection)')
    .addHelpText('after', '\nExample:\n  $ payhook affiliates corrections list --status open\n')
    .action((options: CorrectionFilters) => cli.run(() => listCorrections(cli, options)));
  addDecision(group, cli, { name: 'accept', what: 'make the destination what the bank says' });
  addDecision(group, cli, { name: 'dismiss', what: 'leave the destination as it is' });
}

/** A command that decides about a correction. */
interface Decision {
  readonly name: 'accept' | 'dismiss';
  readonly what: string;
}

function addDecision(group: Command, cli: Cli, decision: Decision): void {
  group
    .command(decision.name)
    .description(decision.what)
    .argument('<correction>', 'the id of the correction (cor_…)')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (DestinationCorrection)')
    .addHelpText(
      'after',
      `\nExample:\n  $ payhook affiliates corrections ${decision.name} cor_0192f8e5c7a7b3e9d0192f8e5c7a7b3e --yes\n`,
    )
    .action((id: string, options: { yes?: boolean }) => cli.run(() => decide(cli, decision, id, options)));
}

async function listCorrections(
  { terminal, account }: Cli,
  { affiliate, ...rest }: CorrectionFilters,
): Promise<undefined> {
  const page = await withClient({ terminal, account }, async (client) =>
    client.affiliates.corrections({
      ...queryOf<ListDestinationCorrectionsQuery>(rest),
      ...(affiliate === undefined ? {} : { affiliate_id: await findAffiliate(client, affiliate) }),
    }),
  );
  terminal.result(page, () =>
    describePage(page, 'correction', (data) => correctionTable(data, terminal.paint.faint), terminal),
  );
}

async function decide(
  { terminal, account }: Cli,
  { name, what }: Decision,
  id: string,
  { yes }: { yes?: boolean },
): Promise<undefined> {
  requireYes(terminal, yes);
  await confirm(terminal, `${what[0]?.toUpperCase()}${what.slice(1)}?`, yes);
  const decided = await withClient({ terminal, account }, (client) =>
    name === 'accept' ? client.affiliates.acceptCorrection(id) : client.affiliates.dismissCorrection(id),
  );
  terminal.result(decided, () => correctionTable([decided], terminal.paint.faint));
}

/** Corrections as a table, with each field as it was and as the bank says. */
export function correctionTable(
  all: readonly DestinationCorrection[],
  faint: (text: string) => string,
): string {
  return table(
    [
      { heading: 'CORRECTION' },
      { heading: 'AFFILIATE', right: true },
      { heading: 'CHANGE', most: 80 },
      { heading: 'STATUS' },
      { heading: 'DUE' },
    ],
    all.map(({ id, affiliate_id, changes, status, due_on }) => [
      id,
      String(affiliate_id),
      printable(
        changes.map(({ field, from, to }) => `${field.replace('_', ' ')} ${from} → ${to}`).join(', '),
      ),
      status,
      due_on,
    ]),
    faint,
  );
}
