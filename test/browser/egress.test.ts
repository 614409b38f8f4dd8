import { expect, test } from 'vitest';
import { ENDPOINTS } from '../api/fixtures.ts';
import { certificateFor } from '../support/certificate.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('how requests leave', (chromium) => {
  const world = useWorld();

  test('a client certificate and a proxy are set, shown without their secrets, and removed', async () => {
    const headers = { 'x-key': 'one' };
    const { body } = await world.api.post(ENDPOINTS, { url: 'http://shop.example.com/hooks', headers });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${body.id}?view=settings` });
    const { page } = ada;
    const soon = `${new Date(Date.now() + 20 * 86_400_000).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`;
    const { cert, key } = certificateFor('payhook', { ends: soon });
    const dialogAt = async (name: string) => {
      await page.getByRole('button', { name }).click();
      return page.getByRole('dialog', { name });
    };
    const certificate = await dialogAt('Change the client certificate');
    await certificate.getByLabel('Certificate (PEM)').fill(cert);
    await certificate.getByLabel('Private key (PEM)').fill(certificateFor('other').key);
    await certificate.getByRole('button', { name: 'Save' }).click();
    await certificate
      .getByText('client_certificate.key must be the private key of the certificate')
      .waitFor();
    await expectAccessible(page);
    await certificate.getByLabel('Private key (PEM)').fill(key);
    await certificate.getByRole('button', { name: 'Save' }).click();
    await page.getByText('CN=payhook, issued by CN=payhook').waitFor();
    await page.getByText('The client certificate expires within 30 days.').waitFor();
    await page.goto(`${world.url}/`);
    await page.getByText('1 client certificate expired or expiring within 30 days').waitFor();
    await page.goto(`${world.url}/webhooks/${body.id}?view=settings`);
    const proxy = await dialogAt('Change the proxy');
    await proxy.getByText('the values of custom headers and the client credentials are removed').waitFor();
    await proxy.getByLabel('URL of the proxy').fill('http://me:secret@proxy.example.com:3128');
    await proxy.getByRole('button', { name: 'Save' }).click();
    await page.getByText('http://me@proxy.example.com:3128').waitFor();
    await expectAccessible(page);
    expect(await page.content()).not.toContain('secret@');
    await page.getByRole('button', { name: 'Remove the proxy' }).click();
    await page.getByText('same as the server').waitFor();
    await page.getByRole('button', { name: 'Remove the client certificate' }).click();
    await page.getByRole('button', { name: 'Remove the client certificate' }).waitFor({ state: 'detached' });
    const { body: after } = await world.api.get(`${ENDPOINTS}/${body.id}`);
    expect(after).toMatchObject({ proxy: null, client_certificate: null, headers: [] });
    expectQuiet(ada);
  });

  longRun.test('client credentials are set, changed without their secret, and removed', async () => {
    const { body } = await world.api.post(ENDPOINTS, { url: 'http://shop.example.com/tokens' });
    const ada = await atDashboard(chromium, world, { path: `/webhooks/${body.id}?view=settings` });
    const { page } = ada;
    const dialogAt = async (name: string) => {
      await page.getByRole('button', { name }).click();
      return page.getByRole('dialog', { name });
    };
    const credentials = await dialogAt('Change the client credentials');
    await credentials.getByLabel('Token endpoint').fill('https://10.0.0.1/token');
    await credentials.getByLabel('Client id', { exact: true }).fill('payhook');
    await credentials.getByLabel('Client secret', { exact: true }).fill('secret-of-the-client');
    await credentials.getByLabel('Scope').fill('events:write');
    await credentials.getByRole('button', { name: 'Save' }).click();
    await credentials.getByText('client_credentials.token_url must name a public address').waitFor();
    await expectAccessible(page);
    await credentials.getByLabel('Token endpoint').fill('https://id.example.com/token');
    await credentials.getByRole('button', { name: 'Save' }).click();
    await page.getByText('for payhook, from https://id.example.com/token').waitFor();
    expect(await page.content()).not.toContain('secret-of-the-client');
    // with the same token endpoint and client the secret may stay
    const again = await dialogAt('Change the client credentials');
    await again.getByText('Leave it empty to keep the current one.').waitFor();
    await again.getByLabel('Audience').fill('https://shop.example.com/');
    await again.getByRole('button', { name: 'Save' }).click();
    await page.getByText('https://shop.example.com/', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove the client credentials' }).click();
    await page.getByRole('button', { name: 'Remove the client credentials' }).waitFor({ state: 'detached' });
    await page.setViewportSize(PHONE);
    await expectAccessible(page);
    expectQuiet(ada);
  });
});
