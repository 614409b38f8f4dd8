import { expect, test } from 'vitest';
import { expectRefusal, nothingChanges } from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { eventIdAt } from '../support/history.ts';
import { useAccount, useWorld } from '../support/world.ts';

const DAY_MS = 86_400_000;
const IMPORTS = '/v2/imports';

const world = useWorld({ settings: { AUDIT_RETENTION_DAYS: '400' } });
const api = useAccount(world);

const idOfAge = (days: number) => eventIdAt(Date.now() - days * DAY_MS);
const uuidOf = (id: string) => id.replace(/^[a-z]+_/, '');
const accountUuid = async () => uuidOf((await api.get('/v2/account')).body.id);

/** Writes an entry of the audit log of this many days ago. */
const note = async (days: number, target: string) =>
  world.query(
    `insert into audit_log (account_id, id, actor_kind, actor_id, action, target, request_id)
     values ($1, $2, 'key', 'key_1', 'createUser', $3, 'r')`,
    [await accountUuid(), idOfAge(days), target],
  );
const targets = async () =>
  (await api.get('/v2/audit-log?action=createUser&sort=id')).body.data.map(
    ({ target }: { target: string }) => target,
  );

test('entries of the audit log are deleted after AUDIT_RETENTION_DAYS; recent ones stay', async () => {
  await note(500, 'old');
  await note(401, 'a day too old');
  await note(399, 'young');
  await keepHouse(world, 'audit log');
  expect(await targets()).toEqual(['young']);
});

test('entries since the unpaid payout was created stay, because they show who may approve it', async () => {
  await note(600, 'before');
  const payout = idOfAge(550);
  await world.query(
    `insert into payouts (account_id, id, number, status, as_of, created_by) values ($1, $2, 1, 'unpaid', now(), 'key_1')`,
    [await accountUuid(), payout],
  );
  await note(500, 'since');
  await keepHouse(world, 'audit log');
  expect(await targets()).toEqual(['since']);
  await world.query('delete from payouts where id = $1', [payout]);
  await keepHouse(world, 'audit log');
  expect(await targets()).toEqual([]);
});

test('the audit log loses no entry of the last 90 days, whatever a transaction attempts', async () => {
  await note(89, 'young');
  await note(91, 'old');
  await note(92, 'older');
  const account = await accountUuid();
  const remove = (where: string) =>
    world.query(`delete from audit_log where account_id = '${account}' and ${where}`);
  await expect(remove('true')).rejects.toThrow('append-only');
  await world.query(`select set_config('payhook.audit_kept_from', (now() + interval '1 year')::text, false)`);
  await expect(remove('true')).rejects.toThrow('append-only');
  await world.query(`select set_config('payhook.audit_kept_from', '', false)`);
  expect(await targets()).toEqual(['older', 'old', 'young']);
});

/** Imports affiliates and makes the import this many days old; returns its id. */
async function importOf(days: number, name: string): Promise<string> {
  const answer = await api.upload(
    `${IMPORTS}?kind=affiliates&accept_guesses=true`,
    `email,first name\nada@example.com,${name}\n`,
  );
  expect(answer.status, answer.text).toBe(200);
  const aged = idOfAge(days);
  const old = uuidOf(answer.body.import_id);
  await world.query('begin');
  await world.query('set local session_replication_role = replica');
  await world.query('update imports set id = $1 where id = $2', [aged, old]);
  await world.query('update import_affiliates set import_id = $1 where import_id = $2', [aged, old]);
  await world.query('commit');
  return `imp_${aged.replaceAll('-', '')}`;
}

test('an import of affiliates can be undone for a year; then its undo is refused with the reason', async () => {
  const [old, young] = [await importOf(366, 'Ada'), await importOf(364, 'Beda')];
  await keepHouse(world, 'undo of imports');
  const kept = await world.query(
    "select public_id('imp', import_id) as id from import_affiliates where account_id = $1",
    [await accountUuid()],
  );
  expect(kept).toEqual([{ id: young }]);
  const { undo_ended_at } = (await api.get(`${IMPORTS}/${old}`)).body;
  expect(undo_ended_at).toMatch(/^20/);
  expect((await api.get(`${IMPORTS}/${young}`)).body.undo_ended_at).toBeNull();
  await nothingChanges(world, async () =>
    expectRefusal(
      await api.post(`${IMPORTS}/${old}/undo`),
      409,
      'import_undo_ended',
      'no longer be undone',
      undo_ended_at,
    ),
  );
  // a server of the previous version would undo nothing and report success
  await expect(
    world.query(
      "update imports set status = 'undone', undone_by = 'x', undone_at = now() where undo_ended_at is not null",
    ),
  ).rejects.toThrow('undo_has_what_it_needs');
  expect((await api.post(`${IMPORTS}/${young}/undo`)).body).toMatchObject({
    status: 'undone',
    undo_ended_at: null,
  });
  await keepHouse(world, 'undo of imports');
  expect((await api.get(`${IMPORTS}/${old}`)).body.undo_ended_at).toBe(undo_ended_at);
});
