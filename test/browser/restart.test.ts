import type { Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { COMMISSIONS, makeAffiliate } from '../api/fixtures.ts';
import { type Machine, settingsOf, startMachine, startServer } from '../cli/support.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectQuiet } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('a server that is killed under an open page', (chromium) => {
  const world = useWorld();
  let machine: Machine;
  beforeAll(() => {
    machine = startMachine();
  });
  afterAll(() => machine.close());

  test('is reported on the page, which keeps the typed text and submits it once when the server is back', async () => {
    const serve = async (port = '0') =>
      startServer(machine, { env: { ...(await settingsOf(world)), PORT: port } });
    const first = await serve();
    const { id } = await makeAffiliate(world.api);
    const path = `/affiliates/${id}?open=adjust`;
    const at = { api: world.api, db: world.db, url: first.url };
    const ada = await atDashboard(chromium, at, { path });
    const { page } = ada;
    const form = page.getByRole('dialog', { name: /^Adjust/ });
    await form.getByLabel('Amount').fill('5.00');
    // the server does it, and is killed before it has answered
    const killed = async (route: Route) => {
      expect((await route.fetch()).status()).toBe(201);
      first.child.kill('SIGKILL');
      await first.ended;
      await route.abort('connectionreset');
    };
    await page.route('**/adjustments', killed, { times: 1 });
    await form.getByRole('button', { name: 'Add 5.00 USD' }).click();
    const bar = page.getByText('The server does not answer.');
    await bar.waitFor();
    expect(await form.getByLabel('Amount').inputValue()).toBe('5.00');
    const second = await serve(new URL(first.url).port);
    expect(second.url).toBe(first.url);
    await form.waitFor({ state: 'detached' });
    await bar.waitFor({ state: 'detached' });
    const { body } = await world.api.get(`${COMMISSIONS}?affiliate_id=${id}`);
    expect(body.data).toMatchObject([{ type: 'adjustment', amount: 500 }]);
    await page.getByRole('table').first().getByText('5.00').first().waitFor();
    expectQuiet(ada);
  });
});
