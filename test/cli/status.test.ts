import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { uuidOf } from '../delivery/support.ts';
import type { Api } from '../support/api.ts';
import { eventIdAt, putIn } from '../support/history.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { commandsOf, runOn } from './here.ts';
import { settingsOf, useMachine } from './support.ts';

const world = useWorld();
const machine = useMachine();
const accountOf = async (api: Api) => uuidOf((await api.get('/v2/account')).body.id);

test('system shows what GET /v2/system does, and refuses other accounts', async () => {
  const { runJson, runText } = commandsOf(world, world.api, machine);
  const record = await runJson('system');
  expect(record).toMatchObject({ object: 'system', version: '0.1.0' });
  const text = await runText('system');
  expect(text).toMatch(/^Size +[1-9]\d*\.\d MB$/m);
  expect(text).toContain(`PostgreSQL  ${record.database.version}, started`);
  expect(text).toContain('No process delivers webhooks.');
  expect(text).toMatch(/^CHORE +LAST DONE \(UTC\)$/m);
  const { refuse } = commandsOf(world, await world.otherAccount(), machine);
  await refuse(1, 'the account that was created first', 'system');
});

test('both show how many deliveries wait for an earlier one of their ordering key, and doctor shows those that wait for an hour', async () => {
  const { runText, runJson } = commandsOf(world, world.api, machine);
  const env = await settingsOf(world);
  const doctor = async () => (await runOn(machine)(['doctor'], { env })).stdout;
  expect(await runText('system')).not.toContain('waiting for an earlier');
  const other = await world.otherAccount();
  const id = await makeEndpoint(other, { ordered: true });
  const events: string[] = [];
  for (let each = 0; each < 3; each += 1) {
    const event = { type: 'order.created', data: {}, ordering_key: 'order:1' };
    events.push((await other.post('/v2/events', event)).body.id);
  }
  expect(await runText('status', '--once')).toMatch(
    /^Waiting +3, 1 of them due, the first for \d+ s; 2 behind others, the first for \d+ s$/m,
  );
  expect(await doctor()).toMatch(/✓ +ordering keys +no event has been waiting/);

  const since = new Date(Date.now() - 3 * 3_600_000);
  const old = eventIdAt(since.getTime());
  await world.query(
    `insert into queue (account_id, endpoint_id, event_id, generation, due_at, ordering_key, place)
     select account_id, endpoint_id, $2, generation, due_at, ordering_key, 4 from queue
     where endpoint_id = $1 and place = 3`,
    [uuidOf(id), old],
  );
  expect((await runJson('system')).backlog).toMatchObject({
    behind_count: 3,
    behind_since: since.toISOString(),
  });
  const [day, time] = [since.toISOString().slice(0, 10), since.toISOString().slice(11, 19)];
  expect(await runText('system')).toMatch(
    new RegExp(
      `^Ordered +3 waiting for an earlier event of their ordering key, the first since ${day} ${time} \\(UTC\\)$`,
      'm',
    ),
  );
  expect(await runText('status', '--once')).toMatch(/^Waiting .*; 3 behind others, the first for 3 h$/m);
  expect(await doctor()).toContain(`webhooks show ${id} ${events[0]}`);
  // held deliveries wait until someone enables the endpoint
  await other.patch(`/v2/webhook-endpoints/${id}`, { status: 'disabled' });
  expect((await runJson('system')).backlog).toMatchObject({ behind_count: 3, behind_since: null });
  expect(await doctor()).toMatch(/✓ +ordering keys/);
  await world.query('delete from queue where event_id = $1', [old]);
});

test('status shows rates, percentiles and failing endpoints of the account, and the state of the installation', async () => {
  const api = world.api;
  const [good, bad, gone] = [await makeEndpoint(api), await makeEndpoint(api), await makeEndpoint(api)];
  const other = await world.otherAccount();
  const theirs = await makeEndpoint(other);
  for (const [id, reason] of [
    [bad, null],
    [gone, 'failing'],
    [theirs, null],
  ] as const) {
    await world.query(
      `update endpoint_state set failures = 6, failing_since = now() - interval '1 hour' where endpoint_id = $1`,
      [uuidOf(id)],
    );
    if (reason)
      await world.query(
        `update webhook_endpoints set disabled_at = now(), disabled_reason = $2 where id = $1`,
        [uuidOf(id), reason],
      );
  }
  const now = Date.now();
  const sent = (status: 'delivered' | 'failed', from: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      endpoint: uuidOf(good),
      event: eventIdAt(now - (from + index)),
      status,
    }));
  await putIn(world, await accountOf(api), [...sent('delivered', 0, 600), ...sent('failed', 600, 60)]);
  const { runJson, runText } = commandsOf(world, api, machine);
  const { rates, deliveries, failing_endpoints: failing, system } = await runJson('status');
  expect(deliveries.totals).toMatchObject({ published: 660, attempts: 660 });
  expect(rates.delivered).toBeGreaterThan(5);
  expect(rates.published).toBeGreaterThan(rates.delivered);
  expect(rates.failed).toBeGreaterThan(0.5);
  expect(failing.map(({ id }: { id: string }) => id).sort()).toEqual([bad, gone].sort());
  expect(system.object).toBe('system');
  const text = await runText('status', '--once');
  expect(text).toMatch(/^last hour +660 +600 +60 +\d+ ms/m);
  expect(text).toMatch(/^Workers +none, 0 in progress$/m);
  expect(text).toContain('FAILING SINCE');
  for (const line of text.split('\n')) if (!line.includes('http')) expect(line.length, line).toBeLessThan(80);
  // another account sees only its own deliveries and endpoints
  const foreign = commandsOf(world, other, machine);
  const shown = await foreign.runJson('status');
  expect([shown.system, shown.deliveries.totals.published]).toEqual([null, 0]);
  expect(shown.failing_endpoints.map(({ id }: { id: string }) => id)).toEqual([theirs]);
  expect(await foreign.runText('status')).toContain(
    'Only the account that was created first can see the state of the installation',
  );
});

test.skipIf(spawnSync('script', ['--version']).error !== undefined)(
  'on a terminal (by script of util-linux) status refreshes, survives a server restart, and restores the cursor',
  async () => {
    const road = await openRoad(new URL(world.url));
    const env = `PAYHOOK_URL=${road.url} PAYHOOK_API_KEY=${world.api.key} exec`;
    const command = `stty cols 80 rows 40; ${env} ${machine.command} status`;
    const screen = machine.startOther('script', ['-qefc', command, '/dev/null'], machine.folder, {
      input: null,
    });
    const again = '\\u001B\\[\\d+A\\r.*Payhook';
    await screen.printed(new RegExp(again));
    await road.close();
    await screen.printed(/retrying/);
    await road.open();
    await screen.printed(/retrying[\s\S]*Ctrl-C stops it/);
    screen.child.stdin?.write('\u0003');
    const { code, stdout } = await screen.ended;
    await road.close();
    expect(code).toBe(0);
    expect(stdout.lastIndexOf('\u001B[?25h')).toBeGreaterThan(stdout.lastIndexOf('\u001B[?25l'));
    expect(stdout.endsWith('\u001B[?25h')).toBe(true);
  },
);

/** An address that leads to the server while it is open. */
async function openRoad({ hostname, port }: URL) {
  const sockets = new Set<Socket>();
  let server: Server;
  let at = 0;
  const open = async () => {
    server = createServer((socket) => {
      const onward = connect(Number(port), hostname);
      for (const each of [socket, onward]) {
        sockets.add(each);
        each.on('error', () => undefined).on('close', () => sockets.delete(each));
      }
      socket.pipe(onward).pipe(socket);
    }).listen(at, '127.0.0.1');
    await once(server, 'listening');
    at = (server.address() as { port: number }).port;
  };
  await open();
  return {
    url: `http://127.0.0.1:${at}`,
    open,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
