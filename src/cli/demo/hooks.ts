import type { Client, CreateWebhookEndpointBody, WebhookEvent } from '../../client/client.ts';
import { openReceiver } from '../webhooks/receiver.ts';
import type { Demo } from './books.ts';
import type { Sale } from './sales.ts';

/** The webhook endpoints of the demo, and their receivers in this process. */
export interface Hooks {
  /** Ends the outage of one of them: failed events are sent again by the schedule, and one by hand. */
  recover(): Promise<void>;
  /** Waits until all that can arrive has arrived; a while at most. */
  settle(): Promise<void>;
  /**
   * Closes the receivers and leaves nothing that would fail for days: one endpoint stays enabled for `payhook
   * listen`, the others are disabled; with `cutShort` all of them are.
   */
  retire(cutShort: boolean): Promise<void>;
}

/** Where `payhook listen` receives unless it is told otherwise. */
export const LISTEN_URL = 'http://127.0.0.1:9000';

type Name = 'shop' | 'books' | 'crm' | 'warehouse';

const ENDPOINTS: Readonly<Record<Name, Omit<CreateWebhookEndpointBody, 'url'>>> = {
  shop: { description: 'Shop: works', event_types: ['order.*', 'subscription.*'] },
  books: {
    description: 'Bookkeeping: was down, then recovered',
    event_types: ['payout.*', 'commission.*', 'commissions.imported', 'affiliate.*'],
  },
  crm: { description: 'Old CRM: gone for good', event_types: ['affiliate.*'] },
  warehouse: {
    description: 'Warehouse: disabled, what comes is held',
    event_types: ['order.created', 'payout.paid'],
    status: 'disabled',
  },
};

/** Opens the receivers and creates the endpoints, which allows them on this machine. */
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
      // the one whose next attempt is furthest away, so that the schedule does not come first
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

/** What waits to be sent, the oldest first. */
async function pending(client: Client): Promise<readonly WebhookEvent[]> {
  return (await client.webhookEvents.list({ status: 'pending', sort: 'id', per_page: 100 })).data;
}

/** More than one: one of them is sent again by hand. */
const FAILURES = 2;
const PUBLISHED = 60;

/** Publishes events of the merchant's own: the newest orders and renewals. */
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
