import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { longRun } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { type Consumer, makeConsumer } from './consumer.ts';

const PROGRAM = `
import { ApiError, type Client, createClient, type Payout } from 'payhook-client';
import { verifyWebhook, WebhookVerificationError } from 'payhook-client/webhooks';

const { PAYHOOK_URL: url = '', PAYHOOK_API_KEY: apiKey = '' } = process.env;
const payhook: Client = createClient({ url, apiKey });
const ids: string[] = [];
for await (const payout of payhook.payouts.list({ status: 'paid' })) ids.push(payout.id);
const current: Payout | null = await payhook.payouts.current().catch((error: unknown) => {
  if (error instanceof ApiError && error.reason === 'no_current_payout') return null;
  throw error;
});
let problem = 'none';
try {
  await verifyWebhook('{}', {}, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
} catch (error) {
  if (error instanceof WebhookVerificationError) problem = error.problem;
}
const { name } = await payhook.account.get();
await payhook.close();
console.log(JSON.stringify({ ids, current, problem, name }));
`;

// The compiler must see each of these, wherever the package is installed.
const MISTAKES = `
import { createClient } from 'payhook-client';

const payhook = createClient({ url: 'http://localhost', apiKey: 'x' });
// @ts-expect-error there is no such status
void payhook.payouts.list({ status: 'open' });
// @ts-expect-error the body is missing
void payhook.payouts.complete('po_1');
// @ts-expect-error amounts are numbers
void payhook.commissions.create({ external_id: 'c1', affiliate_id: 1, amount: '31.90' });
// @ts-expect-error voiding does not depend on a revision
void payhook.commissions.void('com_1', {}, { ifMatch: 3 });
// @ts-expect-error a read has no Idempotency-Key
void payhook.payouts.get('po_1', { idempotencyKey: 'x' });
// @ts-expect-error records are not changed in place
(await payhook.payouts.get('po_1')).revision = 2;
// @ts-expect-error a secret may be null: the answer may be a replay
const key: string = (await payhook.apiKeys.create({ name: 'x' })).key;
// @ts-expect-error a commission names its affiliate in one way
void payhook.commissions.create({ external_id: 'c1', affiliate_id: 1, affiliate_email: 'ada@example.com' });
// @ts-expect-error a commission names its affiliate
void payhook.commissions.create({ external_id: 'c1', amount: 3190 });
// @ts-expect-error a SEPA destination has an IBAN
void payhook.affiliates.putDestination(1, { type: 'sepa', account_holder: 'Ada Lovelace' });
// @ts-expect-error an ACH destination has no IBAN
void payhook.affiliates.putDestination(1, { type: 'ach', account_holder: 'Ada', iban: 'DE89370400440532013000' });
// @ts-expect-error where the server is has to be said
createClient({ apiKey: key });
`;

const REQUIRING = `
import client = require('payhook-client');
import webhooks = require('payhook-client/webhooks');

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = '{"type":"payout.paid"}';
const payhook: client.Client = client.createClient({
  url: process.env.PAYHOOK_URL ?? '',
  apiKey: process.env.PAYHOOK_API_KEY ?? '',
});
async function main(): Promise<void> {
  const event = await webhooks.verifyWebhook(body, await webhooks.signWebhook(body, secret), secret);
  const { name } = await payhook.account.get();
  await payhook.close();
  console.log(JSON.stringify({ name, type: event.type }));
}
void main();
`;

const OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  types: ['node'],
};

const world = useWorld();
let consumer: Consumer;
/** What the compiler says about the programs. */
let compiled: string;
beforeAll(async () => {
  const programs = { 'program.ts': PROGRAM, 'mistakes.ts': MISTAKES, 'program.cts': REQUIRING };
  consumer = await makeConsumer(Object.entries(programs), OPTIONS);
  compiled = consumer.compile();
});
afterAll(async () => {
  consumer.remove();
});

test('a program that installs the package imports the client and the verification, typed and running', async () => {
  expect(compiled).toBe('');
  const env = { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key };
  const { stdout, stderr } = await consumer.run('program.ts', [], env);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    ids: [],
    current: null,
    problem: 'missing_headers',
    name: expect.any(String),
  });
});

test('a program of CommonJS requires the client and the verification, typed and running', async () => {
  expect(compiled).toBe('');
  const env = { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key };
  const { stdout, stderr } = await consumer.run('program.cts', [], env);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ name: expect.any(String), type: 'payout.paid' });
});

const ATTW = join(ROOT, 'test/tools/node_modules/@arethetypeswrong/cli/dist/index.js');
const withoutAttw = existsSync(ATTW) ? '' : ' (skipped: no @arethetypeswrong/cli in test/tools)';

longRun.test.skipIf(!existsSync(ATTW))(`every way to resolve its types is right${withoutAttw}`, () => {
  const { version } = readManifest('packages/client');
  const file = join(consumer.folder, 'node_modules/payhook-client', `payhook-client-${version}.tgz`);
  const { stdout } = spawnSync(process.execPath, [ATTW, file], { encoding: 'utf8' });
  expect(stdout).toContain('No problems found');
});

const IN_BROWSER = `
import { createClient } from 'payhook-client';
import { verifyWebhook } from 'payhook-client/webhooks';

export async function upload(file: File): Promise<Response> {
  const payhook = createClient({ url: location.origin, apiKey: 'x', onResponse: ({ status }) => console.log(status) });
  await payhook.affiliates.import(file);
  const { stream } = await payhook.payouts.download('po_1');
  return new Response(stream);
}
export const verify = (request: Request) => request.text().then((text) => verifyWebhook(text, request.headers, ''));
`;

test('its types need those of browsers only', async () => {
  const dom = { ...OPTIONS, lib: ['es2023', 'dom'], types: [] };
  const inBrowser = await makeConsumer([['program.ts', IN_BROWSER]], dom);
  try {
    expect(inBrowser.compile()).toBe('');
  } finally {
    inBrowser.remove();
  }
});

test('the package has no dependencies, and nothing else in it can be imported', () => {
  const manifest = readManifest('packages/client');
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
  expect(Object.keys(manifest.exports)).toEqual(['.', './webhooks', './package.json']);
  const code = `import('payhook-client/dist/kernel/errors.js').catch((error) => console.log(error.code))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: consumer.folder,
    encoding: 'utf8',
  });
  expect(stdout).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
});

test('both packages have the same version and need the same Node', () => {
  const [server, client] = [readManifest('.'), readManifest('packages/client')];
  for (const key of ['version', 'engines', 'license', 'publishConfig'])
    expect(client[key]).toEqual(server[key]);
});

const readManifest = (folder: string) => JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
