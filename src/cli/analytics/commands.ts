import type { Command } from 'commander';
import type {
  CommissionAnalytics,
  DeliveryAnalytics,
  DeliverySums,
  GetCommissionAnalyticsQuery,
  GetDeliveryAnalyticsQuery,
} from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { withClient } from '../command/session.ts';
import { ENDPOINT_HELP, findEndpoint } from '../finders/endpoint.ts';
import { findProgram, PROGRAM_HELP } from '../finders/program.ts';
import { decimal } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

/** As typed; the server validates them. */
interface SpanOptions {
  readonly interval?: string;
  readonly from?: string;
  readonly to?: string;
}

interface DeliveryOptions extends SpanOptions {
  readonly owner?: string;
}

interface CommissionOptions extends SpanOptions {
  readonly currency?: string;
  readonly program?: string;
}

const KINDS = ['earned', 'refunded', 'voided', 'adjusted', 'paid', 'returned'] as const;

const DELIVERIES_HELP = `
Deliveries are counted when their event was published, attempts when they began. P50, P95 and P99 are percentiles of the duration of
attempts in milliseconds, accurate to 9 %. Intervals without activity are left out; --json includes them.

Examples:
  $ payhook analytics deliveries
  $ payhook analytics deliveries --owner customer-7 --interval day
  $ payhook analytics deliveries https://shop.example.com/payhook --interval minute --from 2026-09-01T08:00:00Z --to 2026-09-01T09:00:00Z
`;
const COMMISSIONS_HELP = `
Amounts earned, refunded, voided, adjusted, paid and returned, by intervals in the account's time zone. Intervals without activity
are left out; --json includes them.

Example:
  $ payhook analytics commissions --interval day --from 2026-09-01 --to 2026-09-30 --currency eur
`;

/** `payhook analytics commissions|deliveries`. */
export function addAnalytics(analytics: Command, cli: Cli): void {
  analytics
    .command('commissions')
    .description('show commissions earned, refunded and paid over time')
    .option('--interval <interval>', 'day, week or month; default month')
    .option('--from <day>', 'from the interval that contains this day')
    .option('--to <day>', 'to the interval that contains this day, inclusive; default today')
    .option('--currency <code>', 'only this currency')
    .option('--program <program>', `only of this program: ${PROGRAM_HELP}`)
    .option('--json', 'print the series (CommissionAnalytics)')
    .addHelpText('after', COMMISSIONS_HELP)
    .action((options: CommissionOptions) => cli.run(() => commissions(cli, options)));
  analytics
    .command('deliveries')
    .description('show the outcomes of webhook deliveries over time, and how long receivers took')
    .argument('[endpoint]', ENDPOINT_HELP)
    .option('--interval <interval>', 'minute, hour or day; default hour')
    .option('--from <when>', 'from the interval that contains it: a day such as 2026-09-01, or an instant')
    .option('--to <when>', 'to the interval that contains it, inclusive; default now')
    .option('--owner <owner>', 'only the endpoints of this owner, including deleted ones')
    .option('--json', 'print the series (DeliveryAnalytics)')
    .addHelpText('after', DELIVERIES_HELP)
    .action((reference: string | undefined, options: DeliveryOptions) =>
      cli.run(() => deliveries(cli, reference, options)),
    );
}

async function commissions(
  { terminal, account }: Cli,
  { program, ...options }: CommissionOptions,
): Promise<undefined> {
  const series = await withClient({ terminal, account }, async (client) =>
    client.analytics.commissions({
      ...(options as GetCommissionAnalyticsQuery),
      program_id: program === undefined ? undefined : String(await findProgram(client, program)),
    }),
  );
  terminal.result(series, () => commissionTable(series, terminal));
}

function commissionTable({ series }: CommissionAnalytics, { paint }: Terminal): string {
  const rows = series.flatMap(({ currency, buckets }) =>
    buckets
      .filter((bucket) => KINDS.some((kind) => bucket[`${kind}_count`]))
      .map((bucket) => [
        bucket.day,
        ...KINDS.map((kind) => {
          const amount = bucket[`${kind}_amount`];
          return amount === null ? '' : decimal({ amount, currency });
        }),
        currency.toUpperCase(),
      ]),
  );
  if (rows.length === 0) return 'There was no activity in this period.\n';
  return table(
    [
      { heading: 'FROM' },
      ...KINDS.map((kind) => ({ heading: kind.toUpperCase(), right: true })),
      { heading: 'CURRENCY' },
    ],
    rows,
    paint.faint,
  );
}

async function deliveries(
  { terminal, account }: Cli,
  reference: string | undefined,
  options: DeliveryOptions,
): Promise<undefined> {
  const series = await withClient({ terminal, account }, async (client) =>
    client.analytics.deliveries({
      ...(options as GetDeliveryAnalyticsQuery),
      webhook_endpoint_id: reference === undefined ? undefined : await findEndpoint(client, reference),
    }),
  );
  terminal.result(series, () => deliverySeries(series, terminal));
}

function deliverySeries({ buckets, totals }: DeliveryAnalytics, { paint }: Terminal): string {
  const busy = buckets.filter(({ published, attempts }) => published > 0 || attempts > 0);
  if (busy.length === 0) return 'There was no activity in this period.\n';
  const headings = ['PUBLISHED', 'DELIVERED', 'FAILED', 'CANCELLED', 'ATTEMPTS', 'P50', 'P95', 'P99'];
  const answers = ['2XX', '3XX', '4XX', '5XX', 'NO ANSWER'];
  const cells = (sums: DeliverySums) =>
    [
      ...[sums.published, sums.delivered, sums.failed, sums.cancelled, sums.attempts],
      ...[sums.p50_ms, sums.p95_ms, sums.p99_ms],
      ...[
        sums.answers['2xx'],
        sums.answers['3xx'],
        sums.answers['4xx'],
        sums.answers['5xx'],
        sums.answers.none,
      ],
    ].map((value) => (value === null ? '' : String(value)));
  return table(
    [{ heading: 'FROM (UTC)' }, ...[...headings, ...answers].map((heading) => ({ heading, right: true }))],
    [...busy.map((bucket) => [shortTime(bucket.starts_at), ...cells(bucket)]), ['total', ...cells(totals)]],
    paint.faint,
  );
}
