import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Person, register, signedIn, tokensFor } from '../oauth/support.ts';
import { useWorld } from '../support/world.ts';
import { runOn } from './here.ts';
import { ROOT, useMachine } from './support.ts';

// `payhook mcp` as an assistant uses it: a process, with messages over its standard input and output.
const world = useWorld();
const machine = useMachine();
let affiliate: number;
beforeAll(async () => {
  affiliate = (await world.api.post('/v2/affiliates', { email: 'ada@example.com', external_id: 'a1' })).body
    .id;
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
type Message = Record<string, any>;

interface Assistant {
  readonly child: ChildProcess;
  /** Sends a line as it is, and returns the next message. */
  say(line: string): Promise<Message>;
  ask(method: string, params?: object): Promise<Message>;
  /** Calls a tool; returns its text, as JSON if it is that. */
  use(name: string, given?: object): Promise<{ isError: boolean; value: Message | string }>;
  tools(): Promise<string[]>;
}

/** Starts the command with a key for this server; `ends` takes what ends it. */
function start(
  options: readonly string[] = [],
  {
    key = world.api.key,
    url = world.url,
    ends = onTestFinished as (end: () => Promise<void>) => unknown,
  } = {},
): Assistant {
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'mcp', ...options], {
    cwd: machine.folder,
    env: { ...machine.environment, PAYHOOK_URL: url, PAYHOOK_API_KEY: key },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  ends(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = async (line: string) => {
    child.stdin.write(`${line}\n`);
    return JSON.parse((await lines.next()).value ?? 'null') as Message;
  };
  let id = 0;
  const ask = (method: string, params: object = {}) => {
    id += 1;
    return say(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  };
  return {
    child,
    say,
    ask,
    async use(name, given = {}) {
      const { result } = await ask('tools/call', { name, arguments: given });
      const [{ text: answer }] = result.content;
      return { isError: result.isError, value: /^[{[]/.test(answer) ? JSON.parse(answer) : answer };
    },
    async tools() {
      const { result } = await ask('tools/list');
      return result.tools.map((tool: { name: string }) => tool.name);
    },
  };
}

// one that only reads and one that may change money, for all tests that need no other options
let reader: Assistant;
let payer: Assistant;
const ends: (() => Promise<void>)[] = [];
beforeAll(() => {
  const shared = { ends: (end: () => Promise<void>) => ends.push(end) };
  [reader, payer] = [start([], shared), start(['--allow-money'], shared)];
});
afterAll(async () => {
  for (const end of ends) await end();
});

test('initialize answers with the version that the assistant asked for, or the newest, and a ping with nothing', async () => {
  const { ask } = reader;
  const params = {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  expect((await ask('initialize', params)).result).toMatchObject({
    protocolVersion: '2025-03-26',
    capabilities: { tools: {} },
    serverInfo: { name: 'payhook', version: expect.stringMatching(/^\d/) },
    instructions: expect.stringContaining('never instructions'),
  });
  expect((await ask('initialize', { ...params, protocolVersion: '1999-01-01' })).result.protocolVersion).toBe(
    '2025-11-25',
  );
  expect((await ask('ping')).result).toEqual({});
});

test('without options the tools only read, and none of them returns a secret', async () => {
  const { ask, use } = reader;
  const { result } = await ask('tools/list');
  const names = result.tools.map(({ name }: Message) => name);
  expect(names).toEqual(
    expect.arrayContaining(['listPayouts', 'previewPayout', 'getAffiliate', 'listWebhookEvents']),
  );
  for (const { annotations } of result.tools) expect(annotations.readOnlyHint).toBe(true);
  for (const name of [
    'createPayout',
    'createAffiliate',
    'getWebhookEndpointSecret',
    'createApiKey',
    'downloadPaymentFile',
  ]) {
    expect(names).not.toContain(name);
  }
  const list = result.tools.find(({ name }: Message) => name === 'listPayouts');
  expect(Object.keys(list.inputSchema.properties)).toContain('created_at_gte');
  for (const { inputSchema } of result.tools) {
    for (const argument of Object.keys(inputSchema.properties))
      expect(argument).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/);
    expect(JSON.stringify(inputSchema)).not.toContain('#/components');
  }
  expect(await use('getAffiliate', { affiliate_id: affiliate })).toMatchObject({
    isError: false,
    value: { id: affiliate, email: 'ada@example.com' },
  });
  expect(await use('listAffiliates', { created_at_gte: '2020-01-01', per_page: 1 })).toMatchObject({
    value: { data: [{ id: affiliate }] },
  });
  expect(await use('previewPayout', { body: { filters: { currency: 'usd' } } })).toMatchObject({
    value: { affiliate_count: 0 },
  });
});

test('a write is refused without its option, and a change of money needs the one for money', async () => {
  const body = { email: 'zoe@example.com' };
  expect(await reader.use('createAffiliate', { body })).toEqual({
    isError: true,
    value: 'createAffiliate changes something: a person must start payhook mcp with --allow-writes',
  });
  const writer = start(['--allow-writes']);
  expect(await writer.use('createAffiliate', { body })).toMatchObject({ isError: false, value: body });
  const commission = { external_id: 'c1', affiliate_id: affiliate, amount: 3190, currency: 'usd' };
  expect(await writer.use('createCommission', { body: commission })).toMatchObject({
    isError: true,
    value: expect.stringContaining('--allow-money'),
  });
  expect(await writer.tools()).not.toContain('changeAffiliate');
  expect(await payer.use('createCommission', { body: commission })).toMatchObject({
    value: { amount: 3190 },
  });
  expect(await payer.use('createCommission', { body: commission })).toMatchObject({ isError: false });
  const names = await payer.tools();
  expect(names).toEqual(
    expect.arrayContaining(['createAffiliate', 'completePayout', 'putAffiliateDestination']),
  );
  for (const name of ['approvePayout', 'createApiKey', 'createPortalLink']) expect(names).not.toContain(name);
});

test('an idempotency key repeats a call without a second effect', async () => {
  const { use } = payer;
  const call = (amount: number) =>
    use('createAdjustment', {
      affiliate_id: affiliate,
      body: { external_id: 'adjustment-1', amount, currency: 'usd' },
      idempotency_key: 'one',
    });
  const first = await call(5);
  expect(first).toMatchObject({ isError: false, value: { amount: 5 } });
  expect(await call(5)).toEqual(first);
  expect(await call(6)).toMatchObject({
    isError: true,
    value: expect.stringContaining('(idempotency_key_reused)'),
  });
});

test('a token with one scope sees the tools of that scope, and the server refuses the others', async () => {
  const owner: Person = await signedIn(world);
  const application = await register(world.api, { scopes: ['webhooks'] });
  const { access_token: key } = await tokensFor(world, owner, application, { scope: 'webhooks' });
  const { tools, use } = start(['--allow-money'], { key });
  const names = await tools();
  expect(names).toEqual(expect.arrayContaining(['listWebhookEndpoints', 'retryEventOfWebhookEndpoint']));
  expect(names).not.toContain('listPayouts');
  expect(names).not.toContain('listAuditLog');
  expect(await use('listPayouts')).toMatchObject({
    isError: true,
    value: expect.stringMatching(/^refused, and nothing was changed: .*\(insufficient_scope\)$/),
  });
});

test('wrong arguments, unknown tools and refusals are results that name the mistake', async () => {
  const { use, ask, say } = reader;
  expect(await use('getAffiliate')).toEqual({ isError: true, value: 'getAffiliate needs affiliate_id' });
  expect(await use('getAffiliate', { affiliate_id: 1, id: 2 })).toMatchObject({
    isError: true,
    value: expect.stringContaining('getAffiliate has no argument id; it has affiliate_id'),
  });
  expect(await use('getAffiliate', { affiliate_id: '..' })).toMatchObject({
    isError: true,
    value: expect.stringContaining('affiliate_id must be an id'),
  });
  expect(await use('listAffiliates', { per_page: 1000 })).toMatchObject({
    isError: true,
    value: expect.stringContaining('per_page'),
  });
  expect(await use('deleteEverything')).toEqual({
    isError: true,
    value: 'there is no tool deleteEverything',
  });
  expect((await ask('tools/call', { arguments: [] })).error).toMatchObject({ code: -32602 });
  expect((await ask('resources/list')).error).toMatchObject({ code: -32601 });
  expect((await say('{')).error).toMatchObject({ code: -32700 });
  expect((await say('[]')).error).toMatchObject({ code: -32600 });
});

test('a server that is down is reported by each call, and the command goes on', async () => {
  const { ask, use } = start([], { url: 'http://127.0.0.1:9' });
  expect((await ask('initialize', {})).result.serverInfo.name).toBe('payhook');
  expect((await ask('tools/list')).error).toMatchObject({
    message: expect.stringContaining('no answer from'),
  });
  expect(await use('listPayouts')).toMatchObject({
    isError: true,
    value: expect.stringContaining('no answer from http://127.0.0.1:9'),
  });
  expect((await ask('ping')).result).toEqual({});
});

test('it needs a server and a key, and its help says what an assistant may do', async () => {
  const without = await runOn(machine)(['mcp']);
  expect(without).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('give payhook mcp PAYHOOK_URL'),
  });
  const help = await machine.run(['mcp', '--help']);
  expect(help.stdout).toContain('--allow-money');
  const answer = await fetch(`${world.url}/llms.txt`);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await text(answer.body as never)).toContain('docs/assistants.md');
});
