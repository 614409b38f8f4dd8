import type { Client } from '../../client/client.ts';
import type { Relayed, WaitingEvent } from './outbox.ts';

/** Refusals of what a request contains; 413 is that of a proxy. */
const OF_CONTENT = new Set([400, 409, 413]);

/**
 * Publishes events in their order. A batch is published as a whole or not at all, so a refused one is divided until the events
 * that cause it are found; the others are published. Throws other errors: which events were published is then unknown, and
 * sending all of them again publishes none twice, because each has an external id.
 */
export async function send(client: Client, events: readonly WaitingEvent[]): Promise<Relayed> {
  const [first] = events;
  if (first === undefined) return { published: [], refused: [] };
  try {
    if (events.length === 1) await client.events.publish(first.event);
    else await client.events.publishMany(events.map(({ event }) => event));
    return { published: events.map(({ id }) => id), refused: [] };
  } catch (error) {
    const { name, status, message } = error as { name: string; status?: number; message: string };
    if (name !== 'ApiError' || status === undefined || !OF_CONTENT.has(status)) throw error;
    if (events.length === 1) return { published: [], refused: [{ id: first.id, refusal: message }] };
    const middle = Math.ceil(events.length / 2);
    const before = await send(client, events.slice(0, middle));
    const after = await send(client, events.slice(middle));
    return {
      published: [...before.published, ...after.published],
      refused: [...before.refused, ...after.refused],
    };
  }
}
