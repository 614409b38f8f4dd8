import type { Account, Client, PayoutSummary, WebhookEndpoint } from '../../client/client.ts';
import { amounts, count } from '../terminal/money.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { LISTEN_URL } from './hooks.ts';

type Counts<Status extends string> = Readonly<Record<Status, number>>;
interface Counted extends WebhookEndpoint {
  readonly events: Counts<(typeof EVENT_STATUSES)[number]>;
}

/** The contents of the demo account. */
export interface Summary {
  readonly object: 'demo';
  readonly account: Pick<Account, 'id' | 'name'>;
  readonly seed: number;
  readonly affiliates: number;
  readonly commissions: Counts<(typeof COMMISSION_STATUSES)[number]>;
  /** By number. */
  readonly payouts: readonly PayoutSummary[];
  readonly webhook_endpoints: readonly Counted[];
  /** An event that failed first and was delivered later. */
  readonly recovered_event: { readonly webhook_endpoint_id: string; readonly id: string } | null;
  readonly seconds: number;
}

const COMMISSION_STATUSES = ['paid', 'unpaid', 'pending', 'voided'] as const;
const EVENT_STATUSES = ['delivered', 'failed', 'held', 'pending'] as const;

/** Counts the records of the account. */
export async function summarize(client: Client, seed: number): Promise<Omit<Summary, 'seconds'>> {
  const { id, name } = await client.account.get();
  const { pagination } = await client.affiliates.list({ per_page: 1 });
  const payouts: PayoutSummary[] = [];
  for await (const payout of client.payouts.list()) payouts.push(payout);
  const endpoints: Counted[] = [];
  for await (const endpoint of client.webhookEndpoints.list()) {
    const events = await counts(EVENT_STATUSES, (status) =>
      client.webhookEndpoints.events(endpoint.id, { status, per_page: 1 }),
    );
    endpoints.push({ ...endpoint, events });
  }
  return {
    object: 'demo',
    account: { id, name },
    seed,
    affiliates: pagination.total,
    commissions: await counts(COMMISSION_STATUSES, (status) =>
      client.commissions.list({ status, per_page: 1 }),
    ),
    payouts,
    webhook_endpoints: endpoints,
    recovered_event: await recovered(client),
  };
}

async function counts<Status extends string>(
  statuses: readonly Status[],
  ask: (status: Status) => PromiseLike<{ readonly pagination: { readonly total: number } }>,
): Promise<Counts<Status>> {
  const entries: [Status, number][] = [];
  for (const status of statuses) entries.push([status, (await ask(status)).pagination.total]);
  return Object.fromEntries(entries) as Counts<Status>;
}

async function recovered(client: Client): Promise<Summary['recovered_event']> {
  for await (const { id, webhook_endpoint_id, attempt_count } of client.webhookEvents.list({
    status: 'delivered',
  })) {
    if (attempt_count > 1) return { webhook_endpoint_id, id };
  }
  return null;
}

/**
 * The summary as text: what was created, and commands to try. `flag` names the account. Without users, the commands include
 * the link that creates the first owner.
 */
export function describe(
  summary: Summary,
  { flag, url, hasUsers }: { flag: string; url: string; hasUsers: boolean },
  { paint }: Terminal,
): string {
  const { account, commissions, payouts, webhook_endpoints: endpoints } = summary;
  const total = Object.values(commissions).reduce((sum, number) => sum + number, 0);
  const parts = COMMISSION_STATUSES.map((status) => `${commissions[status]} ${status}`).join(', ');
  const command = ([what, text]: readonly [string, string]) => [what, `npx payhook ${text}${flag}`];
  const sections = [
    `${paint.strong(account.name)} is filled: ${summary.affiliates} affiliates, ${count(total, 'commission')} ` +
      `(${parts}). It took ${summary.seconds.toFixed(1)} s.\n` +
      `Name this account in every command:${paint.strong(flag)}
` +
      `Or make it the current one: ${paint.strong(`npx payhook accounts use${flag.replace(' --account', '')}`)}
` +
      `Delete it when you are done: ${paint.strong(`npx payhook accounts delete${flag.replace(' --account', '')}`)}
`,
    payoutTable(payouts, paint.faint),
    endpointTable(endpoints, paint.faint),
    `${paint.strong('Have a look')}\n` +
      steps([
        ...whatToSee(summary).map(command),
        ...(hasUsers ? [] : [command(['Make yourself its owner, for the browser', 'users setup-link'])]),
        ['In a browser, while a server is running', `${url}/payouts`],
        ['The API, while a server is running', `${url}/docs`],
      ]),
    `${paint.strong('Webhooks on this machine, while a server is running (npx payhook serve)')}\n` +
      steps(WHAT_TO_SEND.map(command)),
  ];
  return sections.join('\n');
}

function steps(rows: readonly (readonly string[])[]): string {
  const columns = [{ heading: '' }, { heading: '' }, { heading: '' }];
  return table(
    columns,
    rows.map((row) => ['', ...row]),
  );
}

const WHAT_TO_SEND = [
  ['Receive them, in another terminal', 'listen'],
  ['Publish one', `events publish order.created --data '{"order_id":"order-1"}'`],
  ['Send what was held', `webhooks enable ${LISTEN_URL}/warehouse`],
] as const;

type Step = readonly [what: string, command: string];

function whatToSee({ payouts, webhook_endpoints: endpoints, recovered_event: recovered }: Summary): Step[] {
  const current = payouts.find(({ status }) => status === 'unpaid')?.number ?? 'current';
  // the earlier ones were imported
  const paid = payouts.findLast(({ status }) => status === 'paid');
  const url = endpoints.find(({ id }) => id === recovered?.webhook_endpoint_id)?.url ?? '';
  return [
    ['Who was paid, and who will be', 'payouts list'],
    ['A payment file for PayPal', `payouts export ${paid?.number ?? 1} --format paypal`],
    ['The unpaid payout, and who was left out', `payouts show ${current}`],
    ['Its commissions as CSV', `payouts export ${current}`],
    ['Record that everybody in it was paid', `payouts complete ${current} --all-paid --also-without-file`],
    ['The endpoints', 'webhooks list'],
    ['What did not arrive', `webhooks list ${LISTEN_URL}/crm --status failed`],
    ['What one endpoint missed while it fails', `webhooks list ${LISTEN_URL}/books --status pending`],
    ...(recovered ? [['Every attempt of an event', `webhooks show ${url} ${recovered.id}`] as const] : []),
  ];
}

function payoutTable(payouts: readonly PayoutSummary[], faint: (text: string) => string): string {
  return table(
    [
      { heading: 'PAYOUT', right: true },
      { heading: 'STATUS' },
      { heading: 'AFFILIATES', right: true },
      { heading: 'COMMISSIONS', right: true },
      { heading: 'AMOUNT' },
    ],
    payouts.map((payout) => [
      String(payout.number),
      payout.status,
      String(payout.affiliate_count),
      String(payout.commission_count),
      amounts(payout.totals),
    ]),
    faint,
  );
}

function endpointTable(endpoints: readonly Counted[], faint: (text: string) => string): string {
  return table(
    [
      { heading: 'ENDPOINT' },
      { heading: 'STATUS' },
      ...EVENT_STATUSES.map((status) => ({ heading: status.toUpperCase(), right: true })),
      { heading: 'WHAT IT IS' },
    ],
    endpoints.map(({ url, status, events, description }) => [
      url ?? '',
      status,
      ...EVENT_STATUSES.map((each) => String(events[each])),
      description ?? '',
    ]),
    faint,
  );
}
