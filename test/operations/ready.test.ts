import { expect, test } from 'vitest';
import { runHere } from '../cli/here.ts';
import { settingsOf, useMachine } from '../cli/support.ts';
import { onStage } from '../delivery/support.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

const machine = useMachine();

/** The response of /readyz, once it has changed. */
const untilReady = (world: World, reason: string | undefined) =>
  until(`/readyz: ${reason ?? 'ready'}`, async () => {
    const answer = await fetch(`${world.url}/readyz`);
    const body = (await answer.json()) as { status: string; reason?: string; message?: string };
    expect(answer.status).toBe(body.reason === undefined ? 200 : 503);
    return body.reason === reason ? body : null;
  });

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

/** The lines of doctor about the checks of /readyz. */
async function doctor(world: World): Promise<Record<string, Check | undefined>> {
  // the test runner has a BASE_URL of its own
  const env = { ...(await settingsOf(world)), DATA_DIR: machine.folder, BASE_URL: '' };
  const { checks } = (await runHere(['doctor', '--json'], { env })).json() as { checks: Check[] };
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

test.each([
  ['25006', 'read_only', 'the database accepts no changes'],
  ['53100', 'disk_full', "the database's disk is full"],
  ['42501', 'writing', 'the database refuses to write'],
])(
  'PostgreSQL refuses to write with %s: /readyz says %s, and doctor says the same with a remedy',
  (code, reason, words) =>
    onStage({ delivers: false }, async ({ world }) => {
      world.expectErrors();
      expect((await doctor(world)).writing).toEqual({
        name: 'writing',
        status: 'ok',
        detail: 'the database accepts changes',
      });
      await world.query(
        `create function refuse() returns trigger language plpgsql as $$
       begin raise exception 'refused' using errcode = '${code}'; end $$`,
      );
      await world.query(
        `create trigger refuse before insert or update on server_settings execute function refuse()`,
      );
      const { message } = await untilReady(world, reason);
      expect(message).toContain(words);
      const { writing } = await doctor(world);
      expect(writing).toMatchObject({
        status: 'failed',
        detail: expect.stringContaining(`${message}. Remedy: `),
      });
      await world.query('drop trigger refuse on server_settings');
      await world.query('drop function refuse');
      await untilReady(world, undefined);
    }),
);

test('due work without a worker: doctor names the missing worker, and changes nothing', () =>
  onStage({ delivers: false }, async ({ world, ...stage }) => {
    await stage.endpoint(await stage.receiver());
    await stage.publish();
    expect((await doctor(world)).delivery?.status).toBe('ok');
    await world.query(`update queue set due_at = due_at - interval '40 seconds'`);
    await world.query(`update webhook_endpoints set updated_at = updated_at - interval '40 seconds'`);
    const probes = () => world.query(`select value from server_settings where key = 'probed_at'`);
    const before = await probes();
    const { delivery } = await doctor(world);
    expect(await probes()).toEqual(before);
    expect(delivery).toMatchObject({ status: 'warning', detail: expect.stringContaining('payhook worker') });
    const { message = '' } = await untilReady(world, 'delivery');
    expect(delivery?.detail).toContain(message);
  }));
