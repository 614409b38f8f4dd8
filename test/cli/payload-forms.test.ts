import { expect, test } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld({ delivers: true });
const api = useAccount(world);
const machine = useMachine();
const { runJson, run } = commandsOf(world, api, machine);

test('webhooks create and change --payload set the form, which the endpoint and each attempt show', async () => {
  const receiver = await startReceiver();
  try {
    const made = await runJson('webhooks', 'create', receiver.url, '--payload', 'thin');
    expect(made.payload).toBe('thin');
    const sent = await run('events', 'publish', 'order.created', '--data', '{"id":"order-7","amount":900}');
    const id = sent.stdout.trim();
    const [request] = await receiver.until(1);
    expect(request?.body).toContain('"related_object":{"id":"order-7"}');
    const path = `/v2/webhook-endpoints/${made.id}/events/${id}`;
    await expect.poll(async () => (await api.get(path)).body.status).toBe('delivered');
    const shown = await run('webhooks', 'show', receiver.url, id);
    expect(shown.stdout).toContain(`\n  ${request?.body}\n`);
    expect(shown.stdout).toContain('"amount": 900');
    const changed = await run('webhooks', 'change', receiver.url, '--payload', 'cloudevents');
    expect(changed).toMatchObject({ code: 0, stdout: expect.stringMatching(/Payload +cloudevents\n/) });
    const full = await run('webhooks', 'change', receiver.url, '--payload', 'full');
    expect(full).toMatchObject({ code: 0, stdout: expect.stringMatching(/Payload +full\n/) });
    const wrong = await run('webhooks', 'change', receiver.url, '--payload', 'xml');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--payload') });
  } finally {
    await receiver.close();
  }
});
