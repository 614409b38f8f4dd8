import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { inChromium } from '../browser/support.ts';
import { ROOT } from '../cli/support.ts';
import { isLong } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { bundleForBrowsers } from './bundle.ts';
import { type Consumer, makeConsumer } from './consumer.ts';

// One program with the installed package, in every runtime that is here.
const CHECK = `
import { ConnectionError, createClient } from 'payhook-client';
import { signWebhook, verifyWebhook } from 'payhook-client/webhooks';

export async function check(url, apiKey) {
  const payhook = createClient({ url, apiKey });
  const email = crypto.randomUUID() + '@example.com';
  const imported = await payhook.affiliates.import(new Blob(['email\\n' + email + '\\n']));
  const emails = [];
  for await (const affiliate of payhook.affiliates.list({ search: email })) emails.push(affiliate.email);
  const refused = await payhook.payouts.current().catch(({ reason }) => reason);
  const { stream } = await payhook.reports.summaryFile({ from: '2026-01-01', to: '2026-01-31', format: 'csv' });
  const report = await new Response(stream).text();
  await payhook.close();
  const closed = await payhook.account.get().catch((error) => error instanceof ConnectionError);
  const [secret, body] = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '{"type":"payout.paid"}'];
  const headers = await signWebhook(body, secret);
  const event = await verifyWebhook(body, headers, secret);
  const changed = await verifyWebhook(body + ' ', headers, secret).catch(({ problem }) => problem);
  return {
    created: imported.created, isFound: emails.join() === email, refused, isReport: report.includes(','), closed,
    type: event.type, changed,
  };
}
`;
const RESULT = {
  ...{ created: 1, isFound: true, refused: 'no_current_payout', isReport: true, closed: true },
  ...{ type: 'payout.paid', changed: 'wrong_signature' },
};

const MAIN = `
import { check } from './check.mjs';
const { PAYHOOK_URL, PAYHOOK_API_KEY } = process.env;
console.log(JSON.stringify(await check(PAYHOOK_URL, PAYHOOK_API_KEY)));
`;

const WORKER = `
import { check } from './check.mjs';
export default {
  async fetch(request) {
    const { url, key } = await request.json();
    return Response.json(await check(url, key));
  },
};
`;
const WORKER_CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
    )),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

const TOOLS = join(ROOT, 'test/tools/node_modules');
const RUNTIMES: readonly [string, string, readonly string[]][] = [
  ['this Node', process.execPath, ['main.mjs']],
  ['Node 22', join(TOOLS, 'node-22/bin/node'), ['main.mjs']],
  ['Node 24', join(TOOLS, 'node-24/bin/node'), ['main.mjs']],
  ['Deno', join(TOOLS, '@deno/linux-x64-glibc/deno'), ['run', '-A', '--node-modules-dir=manual', 'main.mjs']],
  ['Bun', join(TOOLS, '@oven/bun-linux-x64/bin/bun'), ['main.mjs']],
];
const workerd = join(TOOLS, '@cloudflare/workerd-linux-64/bin/workerd');
const missing = (name: string, path: string) =>
  existsSync(path) ? '' : ` (skipped: no ${name} in test/tools)`;

const world = useWorld();
let consumer: Consumer;
beforeAll(async () => {
  consumer = await makeConsumer([], {});
  for (const [name, code] of [
    ['check.mjs', CHECK],
    ['main.mjs', MAIN],
    ['config.capnp', WORKER_CONFIG],
  ] as const)
    writeFileSync(join(consumer.folder, name), code);
});
afterAll(() => consumer.remove());

for (const [name, file, args] of isLong ? RUNTIMES : RUNTIMES.filter(([each]) => !/^Node/.test(each))) {
  test.skipIf(!existsSync(file))(`the package works in ${name}${missing(name, file)}`, async () => {
    const { stdout } = await promisify(execFile)(file, args, {
      cwd: consumer.folder,
      env: { ...process.env, PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key },
    });
    expect(JSON.parse(stdout)).toEqual(RESULT);
  });
}

/** The port of a worker that has started; it reports it as a line of JSON. */
async function portOf({ stdout }: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: stdout ?? process.stdin })) {
    const { event, port } = JSON.parse(line) as { event: string; port: number };
    if (event === 'listen') return port;
  }
  throw new Error('workerd ended');
}

test.skipIf(!existsSync(workerd))(
  `the package works in a worker of Cloudflare${missing('workerd', workerd)}`,
  async () => {
    const code = await bundleForBrowsers({ contents: WORKER, from: consumer.folder, format: 'esm' });
    writeFileSync(join(consumer.folder, 'worker.js'), code);
    const child = spawn(workerd, ['serve', 'config.capnp', '--control-fd=1'], {
      cwd: consumer.folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(async () => {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    });
    const answer = await fetch(`http://127.0.0.1:${await portOf(child)}/`, {
      method: 'POST',
      body: JSON.stringify({ url: world.url, key: world.api.key }),
    });
    expect(JSON.parse(await answer.text())).toEqual(RESULT);
  },
);

inChromium('the package in a browser', (chromium) => {
  test('works on a page, bundled without a module of Node', async () => {
    const code = await bundleForBrowsers({ contents: CHECK, from: consumer.folder });
    const { page } = await chromium.visitor({ scripts: true });
    // the pages of Payhook allow no scripts
    await page.route('**/blank', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto(`${world.url}/blank`);
    const call = `payhook.check(location.origin, ${JSON.stringify(world.api.key)})`;
    expect(await page.evaluate(`(() => { ${code}; return ${call}; })()`)).toEqual(RESULT);
  });
});
