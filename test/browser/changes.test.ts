import { expect, test } from 'vitest';
import { allOf, ENDPOINTS, type Json } from '../api/fixtures.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

inChromium('changes', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  const rows = async (page: Page) =>
    (await page.getByRole('region', { name: 'What changed' }).getByRole('row').allTextContents()).slice(1);

  test('an event and its delivery show which fields changed; a test has the changes of the example', async () => {
    const endpoint = await makeEndpoint(api);
    const made = await api.post('/v2/affiliates', {
      email: 'ada@example.com',
      name_first: 'Ada',
      slug: 'ada',
    });
    await api.patch(`/v2/affiliates/${made.body.id}`, {
      name_first: 'Augusta',
      name_last: 'King',
      slug: null,
    });
    await api.post(`/v2/affiliates/${made.body.id}/erase`);
    const log = `${ENDPOINTS}/${endpoint}/events`;
    const [update, erasure] = await allOf(api, `${log}?type=affiliate.updated&sort=id`);
    const ada = await atDashboard(chromium, world, { api, path: `/events/${update.id}` });
    const { page } = ada;
    await page.getByRole('heading', { name: 'What changed' }).waitFor();
    expect(await rows(page)).toEqual(['name_last—"King"', 'name_first"Ada""Augusta"', 'slug"ada"—']);
    await expectAccessible(page);
    await page.goto(`${world.url}/webhooks/${endpoint}?event=${update.id}&at=${endpoint}&id=${update.id}`);
    const drawer = page.getByRole('dialog', { name: 'affiliate.updated' });
    await drawer.getByRole('heading', { name: 'What changed' }).waitFor();
    expect((await rows(page)).length).toBe(3);
    await page.goto(`${world.url}/events/${erasure.id}`);
    await page.getByRole('heading', { name: 'What changed' }).waitFor();
    expect(await rows(page)).toContain('name_firstleft out: erased, or too large—');

    await page.goto(`${world.url}/webhooks/${endpoint}`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    const testing = page.getByRole('dialog', { name: 'Send a test event' });
    await testing.getByLabel('Type').selectOption('payout.paid');
    await testing.getByRole('button', { name: 'Send the test event' }).click();
    await page
      .getByRole('dialog', { name: 'payout.paid' })
      .getByRole('heading', { name: 'What changed' })
      .waitFor();
    const [tested] = await allOf(api, `${log}?type=payout.paid`);
    const { example } = (await allOf(api, '/v2/event-types')).find(
      ({ type }: Json) => type === 'payout.paid',
    );
    expect((await api.get(`${log}/${tested.id}`)).body.payload.changes).toEqual(example.changes);
    expectQuiet(ada);
  });
});
