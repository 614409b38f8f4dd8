import type { Client, CreateWebhookEndpointBody, WebhookEvent } from '../../client/client.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import type { Demo } from './books.ts';
import type { Sale } from './sales.ts';

/** The webhook endpoints of the demo, and their receivers in this process. */
export interface Hooks {
  /** Ends the outage of one receiver: failed events are retried by the schedule, and one manually. */
  recover(): Promise<void>;
  /** Waits for all deliveries that can succeed, up to a limit. */
  settle(): Promise<void>;
  /**
   * Closes the receivers and disables endpoints that would fail for days. One endpoint stays enabled for `payhook
   * listen`, unless `cutShort`.
   */
  retire(cutShort: boolean): Promise<void>;
}

/** The default address of `payhook listen`. */
export const LISTEN_URL = 'http://127.0.0.1:9000';

type Name = 'shop' | 'books' | 'crm' | 'warehouse';

const ENDPOINTS: Readonly<Record<Name, Omit<CreateWebhookEndpointBody, 'url'>>> = {
  shop: { description: 'Shop: works', event_types: ['order.*', 'subscription.*'] },
  books: {
    description: 'Bookkeeping: was down, then recovered',
    event_types: ['payout.*', 'commission.*', 'commissions.imported', 'affiliate.*'],
  },
  crm: { description: 'Old CRM: answers 410 Gone', event_types: ['affiliate.*'] },
  warehouse: {
    description: 'Warehouse: disabled, events are held',
    event_types: ['order.created', 'payout.paid'],
    status: 'disabled',
  },
};

/** Opens the receivers and creates their endpoints as the operator, who may use loopback addresses. */
export async function openHooks({ client, stages }: Demo): Promise<Hooks> {
  let isDown = true;
  const receiver = await openReceiver(0, async ({ path }) => {
    if (path === '/crm') return { status: 410, text: 'this integration was removed', afterMs: 0 };
    if (path === '/books' && isDown) return { status: 500, text: 'the database is locked', afterMs: 5 };
    return { status: 200, text: 'received', afterMs: 5 };
  });
  const ids = new Map<Name, string>();
  for (const [name, fields] of Object.entries(ENDPOINTS) as [Name, (typeof ENDPOINTS)[Name]][]) {
    const at = fields.status === 'disabled' ? LISTEN_URL : receiver.url;
    ids.set(name, (await client.webhookEndpoints.create({ url: `${at}/${name}`, ...fields })).id);
  }

  return {
    async recover() {
      const books = ids.get('books') ?? '';
      let failed: readonly WebhookEvent[] = [];
      await stages.until('failing webhooks', async () => {
        const events = await pending(client);
        failed = events.filter((event) => event.webhook_endpoint_id === books && event.attempt_count > 0);
        return Math.max(0, FAILURES - failed.length);
      });
      isDown = false;
      // the event with the latest next attempt, so that the schedule does not retry it first
      const due = (event: WebhookEvent) => event.next_attempt_at ?? '';
      const [last] = failed.toSorted((one, other) => due(other).localeCompare(due(one)));
      if (last) await client.webhookEndpoints.retry(books, last.id);
    },
    settle: () => stages.until('webhooks sent again', async () => (await pending(client)).length),
    async retire(cutShort) {
      const unsettled = new Set((await pending(client)).map((event) => event.webhook_endpoint_id));
      for (const [name, id] of ids) {
        const keeps = name === 'shop' && !cutShort && !unsettled.has(id);
        const url = `${LISTEN_URL}/${name}`;
        await client.webhookEndpoints.change(id, keeps ? { url } : { url, status: 'disabled' });
      }
      receiver.close();
    },
  };
}

/** Pending events, oldest first. */
async function pending(client: Client): Promise<readonly WebhookEvent[]> {
  return (await client.webhookEvents.list({ status: 'pending', sort: 'id', per_page: 100 })).data;
}

/** More than one: one of them is retried manually. */
const FAILURES = 2;
const PUBLISHED = 60;

/** Publishes the merchant's own events: the newest orders and renewals. */
export async function publishOrders({ client, stages }: Demo, sales: readonly Sale[]): Promise<void> {
  const newest = sales.filter(({ input }) => input.type !== 'bonus').slice(-PUBLISHED);
  const publish = ({ input }: Sale) =>
    client.events.publish({
      type: input.type === 'recurring' ? 'subscription.renewed' : 'order.created',
      external_id: `event-${input.external_id}`,
      data: {
        order_id: input.order_id,
        customer_email: input.customer_email,
        product_id: input.product_id,
        total: input.sale_amount,
        currency: input.currency,
        ordered_at: input.occurred_at,
      },
    });
  await stages.each('events', newest, publish, 4);
}
