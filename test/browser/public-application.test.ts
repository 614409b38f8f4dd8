import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorizePath, pkce, type Registered, register } from '../oauth/support.ts';
import { signedIn } from '../people/support.ts';
import { borrowWorld } from '../support/pool.ts';
import type { World } from '../support/world.ts';
import { inChromium, type Page, type Site, startSite, takeSession } from './support.ts';

/** What a script of a page could read of a response; null when the browser blocked all of it. */
interface Read {
  readonly status: number;
  readonly reason: string | null;
  readonly etag: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape
  readonly body: any;
}

/** Calls from a script of the page, as `fetch` would. */
function call(page: Page, url: string, init: object = {}): Promise<Read | null> {
  return page.evaluate(`fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(async (answer) => {
    const text = await answer.text();
    return {
      status: answer.status,
      reason: answer.headers.get('payhook-reason'),
      etag: answer.headers.get('etag'),
      body: text === '' ? null : JSON.parse(text),
    };
  }, () => null)`);
}

inChromium('the page of a public application', (chromium) => {
  let world: World;
  let site: Site;
  let session: string;
  let application: Registered;
  beforeAll(async () => {
    [world, site] = await Promise.all([borrowWorld(), startSite()]);
    session = (await signedIn(world, 'owner')).browser.cookie() ?? '';
    application = await register(world.api, { kind: 'public', redirect_uris: [callback()] });
  });
  afterAll(async () => {
    await site.close();
    await world.close();
  });

  const callback = () => `${site.stranger}/callback`;
  const form = (fields: Record<string, string>) => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: application.id, ...fields }).toString(),
  });

  /** The page after its user has allowed everything it requested, and how its code is exchanged. */
  async function allowed() {
    const visitor = await chromium.visitor({ scripts: true });
    await takeSession(visitor, world.url, session);
    const { page } = visitor;
    const { verifier, challenge } = pkce();
    const params = { redirect_uri: callback(), code_challenge: challenge, code_challenge_method: 'S256' };
    await page.goto(world.url + authorizePath(application, params));
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL((url) => url.href.startsWith(callback()));
    const exchange = form({
      grant_type: 'authorization_code',
      code: new URL(page.url()).searchParams.get('code') ?? '',
      redirect_uri: callback(),
      code_verifier: verifier,
    });
    return { page, exchange };
  }

  test('finds the endpoints, exchanges its code with PKCE, calls the API, and ends its token', async () => {
    const { page, exchange } = await allowed();
    const metadata = await call(page, `${world.url}/.well-known/oauth-authorization-server`);
    const tokens = await call(page, metadata?.body.token_endpoint, exchange);
    expect(tokens).toMatchObject({ status: 200, body: { token_type: 'Bearer' } });
    const authorization = `Bearer ${tokens?.body.access_token}`;

    const list = await call(page, `${world.url}/v2/affiliates/payouts`, { headers: { authorization } });
    expect(list).toMatchObject({ status: 200, body: { data: [] } });
    const made = await call(page, `${world.url}/v2/affiliates`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': 'from a page' },
      body: JSON.stringify({ email: 'affiliate@example.com' }),
    });
    expect(made).toMatchObject({ status: 201, body: { email: 'affiliate@example.com' } });
    // scripts must be able to read refusals too
    const refused = await call(page, `${world.url}/v2/api-keys`, { headers: { authorization } });
    expect(refused).toMatchObject({ status: 403, reason: 'full_access_required' });

    const token = String(tokens?.body.refresh_token);
    const ended = await call(page, metadata?.body.revocation_endpoint, form({ token }));
    expect(ended?.status).toBe(200);
    const after = await call(page, `${world.url}/v2/account`, { headers: { authorization } });
    expect(after).toMatchObject({ status: 401, reason: 'invalid_credentials' });
  });

  test('on an unregistered origin reads neither tokens nor responses', async () => {
    const { page, exchange } = await allowed();
    const tokens = await call(page, `${world.url}/oauth/token`, exchange);
    const authorization = `Bearer ${tokens?.body.access_token}`;
    const read = () => call(page, `${world.url}/v2/account`, { headers: { authorization } });
    expect(await read()).toMatchObject({ status: 200 });

    const second = await allowed();
    for (const elsewhere of [page, second.page]) await elsewhere.goto(`${site.neighbour}/elsewhere`);
    expect(await read()).toBeNull();
    expect(await call(second.page, `${world.url}/oauth/token`, second.exchange)).toBeNull();
    const write = {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'elsewhere@example.com' }),
    };
    // a request that needs a preflight is not even sent
    expect(await call(page, `${world.url}/v2/affiliates`, write)).toBeNull();
    expect((await world.api.get('/v2/affiliates?email=elsewhere@example.com')).body.data).toEqual([]);
    // the metadata is public
    const metadata = await call(page, `${world.url}/.well-known/oauth-authorization-server`);
    expect(metadata?.body.issuer).toBe(world.url);
  });
});
