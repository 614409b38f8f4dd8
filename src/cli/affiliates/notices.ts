import { type Command, Option } from 'commander';
import type {
  AffiliateNotice,
  ListAffiliateNoticesQuery,
  PreviewAffiliateNoticeQuery,
} from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { factLines } from '../terminal/facts.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

interface NoticeOptions extends ListOptions {
  readonly kind?: AffiliateNotice['kind'];
  readonly status?: AffiliateNotice['status'];
  readonly affiliate?: string;
}

const KINDS: readonly AffiliateNotice['kind'][] = [
  'paid',
  'returned',
  'destination_changed',
  'form_lapsing',
  'agreement_ending',
];

/** `payhook affiliates notices list|preview`. */
export function addNotices(affiliates: Command, cli: Cli): void {
  const notices = affiliates.command('notices').description('e-mails to affiliates');
  const list = notices
    .command('list')
    .description('list e-mails that wait, or were sent or failed within a week')
    .addOption(new Option('--kind <kind>', 'only this kind').choices([...KINDS]))
    .addOption(new Option('--status <status>', 'only these').choices(['waiting', 'sent', 'failed']))
    .option('--affiliate <affiliate>', `only those to it: ${AFFILIATE_HELP}`);
  withPages(list, { nouns: 'e-mails', sort: 'created_at' })
    .option('--json', 'print the page (a list of AffiliateNotice)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates notices list --status failed\n  $ payhook affiliates notices list --affiliate ada@example.com --json\n',
    )
    .action((options: NoticeOptions) => cli.run(() => show(cli, options)));
  notices
    .command('preview')
    .description('show an e-mail with example data; sends nothing')
    .argument('<kind>', KINDS.join(', '))
    .addOption(
      new Option('--language <code>', 'the language; default: that of the account').choices([
        'en',
        'de',
        'fr',
        'es',
      ]),
    )
    .option('--json', 'print the record (AffiliateNoticePreview)')
    .addHelpText('after', '\nExample:\n  $ payhook affiliates notices preview paid --language de\n')
    .action((kind: string, options: { language?: string }) => cli.run(() => preview(cli, kind, options)));
}

async function show(
  { terminal, account }: Cli,
  { affiliate, ...options }: NoticeOptions,
): Promise<undefined> {
  const page = await withClient({ terminal, account }, async (client) =>
    client.affiliates.notices({
      ...queryOf<ListAffiliateNoticesQuery>(options),
      affiliate_id: affiliate === undefined ? undefined : await findAffiliate(client, affiliate),
    }),
  );
  terminal.result(page, () => describePage(page, 'e-mail', (data) => noticeTable(data, terminal), terminal));
}

function noticeTable(notices: readonly AffiliateNotice[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'CREATED' },
      { heading: 'KIND' },
      { heading: 'AFFILIATE', right: true },
      { heading: 'TO FORMER ADDRESS' },
      { heading: 'STATUS' },
      { heading: 'SENT' },
      { heading: 'ERROR' },
    ],
    notices.map(({ created_at, kind, affiliate_id, is_to_former_address, status, sent_at, error }) => [
      exactTime(created_at),
      kind,
      String(affiliate_id),
      is_to_former_address ? 'yes' : 'no',
      status,
      sent_at === null ? '' : exactTime(sent_at),
      printable(error ?? ''),
    ]),
    paint.faint,
  );
}

async function preview(
  { terminal, account }: Cli,
  kind: string,
  { language }: { language?: string },
): Promise<undefined> {
  const query = { kind, language } as PreviewAffiliateNoticeQuery;
  const shown = await withClient({ terminal, account }, (client) => client.affiliates.previewNotice(query));
  terminal.result(shown, () => {
    const facts = factLines([
      ['Sent', sending(shown)],
      ['From', printable(shown.from_name)],
      ['Answers to', shown.reply_to ?? 'the sender'],
      ['Subject', printable(shown.subject)],
    ]);
    return `${facts}\n${shown.text}`;
  });
}

function sending({ is_on, is_email_sent }: { is_on: boolean; is_email_sent: boolean }): string {
  if (!is_on) return 'no: switched off';
  return is_email_sent ? 'yes' : 'no: the server sends no e-mail';
}
