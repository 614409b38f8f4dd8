import { expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { onSignal } from '../support/signals.ts';
import { type Endpoint, onStage } from './support.ts';

const OWNERS = ['ada', 'bob', null] as const;
const PUBLISHED = 12;

test('no receiver gets an event for another owner or account: at once, held, resent or recovered', () =>
  onStage({}, async ({ world, api, receiver, endpoint, change, retry }) => {
    const clients: readonly Api[] = [api, await world.otherAccount()];
    const places = await Promise.all(
      clients.flatMap((client, account) =>
        OWNERS.map(async (owner) => {
          const at = await receiver();
          return { client, account, owner, at, made: await endpoint(at, { owner }, client) };
        }),
      ),
    );
    const expected = (account: number, owner: string | null) => {
      // without an owner an event is for all; the third of each round has none
      const own = OWNERS.filter((each) => each === null || each === owner);
      return Array.from({ length: PUBLISHED }, (_, index) => ({
        account,
        index,
        owner: OWNERS[index % 3] ?? null,
      }))
        .filter((each) => own.includes(each.owner))
        .map(({ index }) => `${account} ${index}`);
    };
    const gotten = (at: { received: readonly { body: string }[] }) =>
      [...new Set(at.received.map(({ body }) => JSON.parse(body).data.text as string))].toSorted();
    const publishAll = (round: string) =>
      Promise.all(
        clients.flatMap((client, account) =>
          Array.from({ length: PUBLISHED }, async (_, index) => {
            const owner = OWNERS[index % 3] ?? undefined;
            const data = { text: `${account} ${index}${round}` };
            const { status, text } = await client.post('/v2/events', { type: 'order.created', data, owner });
            expect(status, text).toBe(201);
          }),
        ),
      );
    const everywhere = (round: string) =>
      onSignal(world, 'settled', 'every receiver to get its events', async () =>
        places.every(({ account, owner, at }) =>
          expected(account, owner).every((text) => gotten(at).includes(text + round)),
        ),
      );
    await publishAll('');
    await everywhere('');
    // held at an endpoint that is disabled
    const [ada] = places as [(typeof places)[number]];
    await change(ada.made, { status: 'disabled' });
    await publishAll(' held');
    await change(ada.made, { status: 'enabled' });
    await everywhere(' held');
    // everything again, at every endpoint
    for (const { client, made } of places) await recoverAll(client, made);
    const { body } = await api.get(`${ada.made.path}/events?per_page=1`);
    expect(await retry(ada.made, body.data[0].id)).toBe(200);
    await onSignal(world, 'settled', 'every event to be sent again', async () =>
      places.every(({ account, owner, at }) => at.received.length >= 4 * expected(account, owner).length),
    );
    for (const { account, owner, at } of places) {
      const own = expected(account, owner);
      expect(gotten(at)).toEqual([...own, ...own.map((text) => `${text} held`)].toSorted());
    }
  }));

async function recoverAll(client: Api, { path }: Endpoint): Promise<void> {
  const since = '2026-01-01T00:00:00Z';
  const { status, text } = await client.post(`${path}/recover`, {
    since,
    status: ['delivered', 'failed', 'pending'],
  });
  expect(status, text).toBe(201);
}
