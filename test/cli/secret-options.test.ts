import type { Command } from 'commander';
import { beforeAll, expect, test } from 'vitest';
import { settingsOf } from '../support/database-url.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { helpOf, programHere, runOn } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const WANTED = `whsec_${Buffer.from('a secret of the receiver, 32 byte').toString('base64')}`;
let env: Record<string, string>;
beforeAll(async () => {
  env = await settingsOf(world);
});

async function run(args: readonly string[], input?: string) {
  const { id } = (await api.get('/v2/account')).body;
  const all = [...args, '--account', id, '--json'];
  return runOn(machine)(all, { env, input: input ?? '' });
}
const done = async (args: readonly string[], input?: string) => {
  const ran = await run(args, input);
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return ran.json();
};
const secretOf = async (id: string) => (await api.get(`/v2/webhook-endpoints/${id}/secret`)).body.secret;

test('secrets come from a file or from standard input, and stay off the command line', async () => {
  machine.write('secret', `${WANTED}\n`);
  machine.write('headers.txt', 'x-token: from the file\r\n\r\nx-shop: 7\n');
  machine.write('proxy.txt', 'http://payhook:pass@proxy.example.com:3128\n');
  machine.write('client', 'the client secret');
  const { id, headers } = await done(
    [
      ...['webhooks', 'create', 'https://shop.example.com/hooks', '--secret', '@secret'],
      ...['--header', '@headers.txt', '--proxy', '@proxy.txt'],
      ...['--token-url', 'https://id.example.com/token', '--client-id', 'payhook', '--client-secret', '-'],
    ],
    'from standard input\n',
  );
  expect(headers.toSorted()).toEqual(['x-shop', 'x-token']);
  expect(await secretOf(id)).toBe(WANTED);
  const { body } = await api.get(`/v2/webhook-endpoints/${id}`);
  expect(body.proxy).toBe('http://payhook@proxy.example.com:3128');
  expect(body.client_credentials.client_id).toBe('payhook');

  const next = `whsec_${Buffer.from('the next one, also of 32 bytes..').toString('base64')}`;
  machine.write('next', `${next}\n`);
  await done(['webhooks', 'rotate-secret', id, '--secret', '@next']);
  expect(await secretOf(id)).toBe(next);
  machine.write('other.txt', 'x-other: value\n');
  const changed = await done(['webhooks', 'change', id, '--header', '@other.txt']);
  expect(changed.headers).toContain('x-other');
  const channel = await done(
    ['alerts', 'add-channel', '-', '--name', 'ops', '--format', 'slack'],
    'https://hooks.slack.com/services/T/B/secret\n',
  );
  expect(channel.host).toBe('hooks.slack.com');
});

test('a file that is missing, empty or too long is named, and standard input is read once', async () => {
  machine.write('empty', '\n');
  machine.write('two', `${WANTED}\n${WANTED}\n`);
  const create = ['webhooks', 'create', 'https://shop.example.com/hooks'];
  for (const [args, code, message] of [
    [['--secret', '@none'], 1, 'none'],
    [['--secret', '@'], 2, '--secret: give a file name after @'],
    [['--secret', '@empty'], 2, '--secret: empty is empty'],
    [['--secret', '@two'], 2, '--secret: two must be one line'],
    [['--secret', '-'], 2, '--secret: standard input is empty'],
    [['--secret', '-', '--header', '-'], 2, '--secret: standard input is already used for --header'],
  ] as const) {
    const input = args.some((each) => each === '--header') ? 'x-a: 1\n' : '';
    const readsInput = args.some((each) => each === '-');
    const ran = await run([...create, ...args], readsInput ? input : undefined);
    expect({ args, ...ran }).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
  }
  expect((await api.get('/v2/webhook-endpoints')).body.data).toEqual([]);
});

test('listen takes its secrets from a file', async () => {
  machine.write('secret', `${WANTED}\n`);
  const listening = machine.start(['listen', '--port', '0', '--once', '--secret', '@secret', '--json']);
  const [, url = ''] = await listening.printed(/"url":"([^"]+)"/);
  const { body } = await api.post('/v2/webhook-endpoints', {
    url: 'https://shop.example.com/',
    secret: WANTED,
  });
  expect(body.secret).toBe(WANTED);
  const { Webhook } = await import('standardwebhooks');
  const at = new Date();
  const payload = JSON.stringify({ type: 'order.created', data: {} });
  const signature = new Webhook(WANTED).sign('evt_1', at, payload);
  const seconds = String(Math.floor(at.getTime() / 1000));
  const answer = await fetch(url, {
    method: 'POST',
    body: payload,
    headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': seconds, 'webhook-signature': signature },
  });
  expect(answer.status).toBe(200);
  expect(await listening.ended).toMatchObject({ code: 0 });
});

test('no help example has a secret on its command line', async () => {
  const program = await programHere();
  for (const name of ['webhooks change', 'webhooks create', 'listen', 'alerts add-channel']) {
    const command = name
      .split(' ')
      .reduce((above: Command, part) => above.commands.find((one) => one.name() === part) ?? above, program);
    const help = helpOf(command);
    const commands = help
      .slice(help.indexOf('Example'))
      .split('\n')
      .filter((line) => line.startsWith('  $'))
      .map((line) => line.replace(/\s# .*/, ''));
    expect(commands.length, help).toBeGreaterThan(0);
    expect(commands[0]).toContain(name);
    expect(
      commands.filter((line) =>
        /(--secret|--client-secret|--proxy) (?![@-])|:[^\s/]+@|add-channel https/.test(line),
      ),
    ).toEqual([]);
  }
});
