import { expect, test } from 'vitest';
import { runOn } from '../cli/here.ts';
import { startMachine } from '../cli/support.ts';
import { signedIn } from '../people/support.ts';
import { settingsOf } from '../support/database-url.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld({ own: true });
const BYTES = 70_000_000;

test('payhook doctor names the tables that are larger than they should be, and the remedy', async () => {
  const machine = startMachine();
  const env = await settingsOf(world);
  const look = async () => {
    const { checks } = (await runOn(machine)(['doctor', '--json'], { env })).json();
    return checks.find(({ name }: { name: string }) => name === 'table sizes');
  };
  try {
    expect(await look()).toEqual({
      name: 'table sizes',
      status: 'ok',
      detail: 'no table is larger than expected',
    });
    // a session as large as a hundred thousand, and a note of the moment that nobody removed
    await signedIn(world, 'owner');
    await world.query('alter table sessions alter user_agent set storage external');
    await world.query(`update sessions set user_agent = repeat('x', ${BYTES})`);
    await world.query('alter table affiliate_balance_notes alter currency set storage external');
    await world.query(
      `insert into affiliate_balance_notes (account_id, affiliate_id, currency, available_at, owed, paid)
       select id, 1, repeat('x', ${BYTES}), now(), 0, 0 from accounts limit 1`,
    );
    await world.query('analyze sessions, affiliate_balance_notes');
    await world.query(
      `insert into server_settings (key, value) values ('chore sessions', '2026-01-01T00:00:00.000Z')`,
    );
    const { status, detail, tables } = await look();
    expect(status).toBe('warning');
    expect(detail).toMatch(
      /sessions has \d+ MB, about \d+ MB expected: the chore "sessions" removes its rows, last at 2026-01-01/,
    );
    expect(tables).toHaveLength(2);
    expect(tables).toContainEqual({
      name: 'sessions',
      bytes: expect.any(Number),
      expected_bytes: expect.any(Number),
      rows: 1,
      chore: 'sessions',
      chore_last_done_at: '2026-01-01T00:00:00.000Z',
      remedy: expect.stringContaining('VACUUM FULL sessions'),
    });
    expect(
      tables.find(({ name }: { name: string }) => name === 'affiliate_balance_notes').bytes,
    ).toBeGreaterThan(BYTES);
    const printed = await runOn(machine)(['doctor'], { env });
    expect(printed.stdout).toMatch(/! +table sizes/);
  } finally {
    await world.query('delete from affiliate_balance_notes');
    await machine.close();
  }
});
