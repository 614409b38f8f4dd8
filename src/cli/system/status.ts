import type {
  Client,
  DeliveryAnalytics,
  DeliveryBucket,
  System,
  WebhookEndpoint,
} from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { follow } from '../command/follow.ts';
import { withClient } from '../command/session.ts';
import { factLines } from '../terminal/facts.ts';
import { aborted, untilStopped } from '../terminal/interrupt.ts';
import { openLiveLines } from '../terminal/live.ts';
import { printable, table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { exactTime, lengthOf, shortTime } from '../terminal/time.ts';
import { cellTable, choreName, replicaOf, roomOf } from './state.ts';

const EVERY_MS = 2000;
const MINUTE_MS = 60_000;
/** The least frequent chores run hourly. */
const LATE_CHORE_MS = 180 * MINUTE_MS;
const LATE_DELIVERY_MS = 5 * MINUTE_MS;
const LATE_BEHIND_MS = 60 * MINUTE_MS;
const SHOWN_ENDPOINTS = 10;

/** The data of one screen. */
interface Status {
  readonly object: 'status';
  readonly at: string;
  readonly account: { readonly id: string; readonly name: string };
  /** Per second, over the last minute. */
  readonly rates: { readonly published: number; readonly delivered: number; readonly failed: number };
  /** Minute by minute, over the last hour. */
  readonly deliveries: DeliveryAnalytics;
  readonly failing_endpoints: readonly WebhookEndpoint[];
  /** null: the account may not see the state of the installation. */
  readonly system: System | null;
}

/** `payhook status`: updates until it is stopped on a terminal, and prints once elsewhere. */
export async function showStatus(cli: Cli, { once = false }: { once?: boolean }): Promise<undefined> {
  const { terminal } = cli;
  if (once || terminal.json || !process.stdout.isTTY) {
    const status = await withClient(cli, readStatus);
    terminal.result(status, () => describe(status, terminal.paint));
    return;
  }
  const stopped = aborted(untilStopped());
  const release = terminal.spinner.hold();
  const lines = openLiveLines(process.stdout);
  let shown = '';
  let problem = '';
  const draw = () => {
    const last =
      problem === '' ? terminal.paint.faint('Ctrl-C stops it.') : terminal.paint.bad(printable(problem));
    lines.draw([...shown.split('\n'), last]);
  };
  const following = follow(cli, {
    everyMs: EVERY_MS,
    async poll(client) {
      shown = describe(await readStatus(client), terminal.paint);
      draw();
      return false;
    },
    trouble(text) {
      problem = text;
      draw();
    },
  });
  await Promise.race([following, stopped]).finally(() => {
    lines.close();
    release();
  });
}

async function readStatus(client: Client): Promise<Status> {
  const [account, deliveries, system, failing] = await Promise.all([
    client.account.get(),
    client.analytics.deliveries({ interval: 'minute' }),
    readSystem(client),
    readFailing(client),
  ]);
  return {
    object: 'status',
    at: new Date().toISOString(),
    account: { id: account.id, name: account.name },
    rates: ratesOf(deliveries, Date.now()),
    deliveries,
    failing_endpoints: failing,
    system,
  };
}

async function readSystem(client: Client): Promise<System | null> {
  try {
    return await client.system.get();
  } catch (error) {
    if ((error as { reason?: string }).reason === 'installation_only') return null;
    throw error;
  }
}

/** Endpoints that are failing or were disabled for failing, longest first. */
async function readFailing(client: Client): Promise<WebhookEndpoint[]> {
  const failing: WebhookEndpoint[] = [];
  for await (const endpoint of client.webhookEndpoints.list()) {
    const isGivenUp = endpoint.disabled_reason === 'failing' || endpoint.disabled_reason === 'gone';
    const isFailing = endpoint.status === 'enabled' && endpoint.first_failure_at !== null;
    if (isGivenUp || isFailing) failing.push(endpoint);
  }
  const since = ({ first_failure_at, disabled_at }: WebhookEndpoint) => first_failure_at ?? disabled_at ?? '';
  return failing.sort((one, other) => (since(one) < since(other) ? -1 : 1));
}

/** Counts only the part of the previous minute that is within the last sixty seconds. */
function ratesOf({ buckets }: DeliveryAnalytics, now: number): Status['rates'] {
  const [before, current] = buckets.slice(-2);
  if (!before || !current) return { published: 0, delivered: 0, failed: 0 };
  const elapsed = (now - Date.parse(current.starts_at)) / MINUTE_MS;
  const share = 1 - Math.min(1, Math.max(0, elapsed));
  const perSecond = (of: (bucket: DeliveryBucket) => number) => (of(current) + of(before) * share) / 60;
  const round = (rate: number) => Math.round(rate * 10) / 10;
  return {
    published: round(perSecond(({ published }) => published)),
    delivered: round(perSecond(({ answers }) => answers['2xx'])),
    failed: round(perSecond(({ attempts, answers }) => attempts - answers['2xx'])),
  };
}

function describe({ at, account, rates, deliveries, failing_endpoints, system }: Status, paint: Paint) {
  const now = Date.parse(at);
  const title = `${printable(account.name)}  ${exactTime(at)} (UTC)`;
  const parts = [
    `${paint.strong(`Payhook${system ? ` ${system.version}` : ''}`)}  ${title}\n`,
    rateTable(rates, deliveries.totals, paint),
    system === null
      ? 'Only the account that was created first can see the state of the installation.\n'
      : stateLines(system, now, paint),
    ...(system !== null && system.cells.length > 1 ? [cellTable(system.cells, paint)] : []),
    endpointLines(failing_endpoints, paint),
  ];
  return parts.join('\n');
}

function rateTable(rates: Status['rates'], totals: DeliveryAnalytics['totals'], paint: Paint): string {
  const milliseconds = (value: number | null) => (value === null ? '' : `${value} ms`);
  const headings = ['PUBLISHED', 'DELIVERED', 'FAILED ATTEMPTS', 'P50', 'P95', 'P99'];
  return table(
    [{ heading: 'DELIVERIES' }, ...headings.map((heading) => ({ heading, right: true }))],
    [
      ['a second', ...[rates.published, rates.delivered, rates.failed].map((rate) => rate.toFixed(1))],
      [
        'last hour',
        ...[totals.published, totals.answers['2xx'], totals.attempts - totals.answers['2xx']].map(String),
        ...[totals.p50_ms, totals.p95_ms, totals.p99_ms].map(milliseconds),
      ],
    ],
    paint.faint,
  );
}

/** One line per part of the installation. Problems are highlighted. */
function stateLines(
  { backlog, workers, chores, failing_chores: failing, replica, disk, backups }: System,
  now: number,
  paint: Paint,
): string {
  const ago = (instant: string | null) =>
    instant === null ? null : lengthOf(Math.max(0, now - Date.parse(instant)));
  const waited = backlog.oldest_due_at === null ? 0 : now - Date.parse(backlog.oldest_due_at);
  const behind = backlog.behind_since === null ? 0 : now - Date.parse(backlog.behind_since);
  const late = chores.filter(({ last_done_at }) => now - Date.parse(last_done_at) > LATE_CHORE_MS);
  const { length: processes } = workers.processes;
  const claimed = ago(workers.last_claim_at);
  const lines = factLines([
    ['Waiting', waitingLine(backlog, { waited, behind })],
    [
      'Workers',
      `${processes || 'none'}, ${workers.in_flight_count} in progress${claimed === null ? '' : `, last claim ${claimed} ago`}`,
    ],
    ['Chores', choresLine(late, failing, ago)],
    ['Backup', backupLine(backups, ago)],
    ['Replica', replicaOf(replica)],
    ['Disk', roomOf(disk)],
  ]).split('\n');
  const warns = [
    waited > LATE_DELIVERY_MS || behind > LATE_BEHIND_MS,
    processes === 0,
    late.length > 0 || failing.length > 0,
    backups.failure !== null,
    replica?.is_used === false,
  ];
  return lines.map((line, index) => (warns[index] ? paint.warning(line) : line)).join('\n');
}

/** Chores that fail, and chores that are late without a failure. */
function choresLine(
  late: System['chores'],
  failing: System['failing_chores'],
  ago: (instant: string) => string | null,
): string {
  const others = late.filter(({ name }) => !failing.some((chore) => chore.cell === 0 && chore.name === name));
  const parts = [
    ...failing.map(
      ({ since, message, ...chore }) =>
        `${choreName(chore)} has failed for ${ago(since)}: ${printable(message)}`,
    ),
    ...others.map(({ name, last_done_at }) => `${name} is late (${ago(last_done_at)})`),
  ];
  return parts.length === 0 ? 'all done' : parts.join('; ');
}

/** The backlog: how many are due, how many wait for an earlier event of their key, and for how long (ms). */
function waitingLine(
  { queued_count: queued, due_count: due, behind_count: count, ...first }: System['backlog'],
  { waited, behind }: { readonly waited: number; readonly behind: number },
): string {
  const since = (instant: string | null, ms: number) =>
    instant === null ? '' : `, the first for ${lengthOf(ms)}`;
  const others = count === 0 ? '' : `; ${count} behind others${since(first.behind_since, behind)}`;
  return `${queued}, ${due} of them due${since(first.oldest_due_at, waited)}${others}`;
}

/** The last backup, and whether a later one failed. */
function backupLine({ last, failure }: System['backups'], ago: (instant: string) => string | null): string {
  const made =
    last === null
      ? 'none yet'
      : `${ago(last.made_at)} ago, ${(last.size_bytes / 1e6).toFixed(1)} MB, ${printable(last.file)}`;
  return failure === null
    ? made
    : `failed ${ago(failure.failed_at)} ago: ${printable(failure.message)}; last backup: ${made}`;
}

function endpointLines(endpoints: readonly WebhookEndpoint[], paint: Paint): string {
  if (endpoints.length === 0) return 'No endpoint is failing.\n';
  const rest = endpoints.length - SHOWN_ENDPOINTS;
  const orDash = (instant: string | null) => (instant === null ? '-' : shortTime(instant));
  return (
    table(
      ['FAILING SINCE', 'LAST SUCCESS', 'STATUS', 'ENDPOINT'].map((heading) => ({ heading })),
      endpoints
        .slice(0, SHOWN_ENDPOINTS)
        .map((endpoint) => [
          orDash(endpoint.first_failure_at),
          orDash(endpoint.last_success_at),
          endpoint.status,
          endpoint.url ?? endpoint.id,
        ]),
      paint.faint,
    ) + (rest > 0 ? `and ${rest} more: payhook webhooks list\n` : '')
  );
}
