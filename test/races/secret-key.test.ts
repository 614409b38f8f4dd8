import sql from 'sql-template-tag';
import { expect, inject, test } from 'vitest';
import { rotateSecretKey } from '../../src/app/rotate-secret-key.ts';
import { rows, type Tx } from '../../src/db/database.ts';
import { fingerprintOf, sealPrefix } from '../../src/kernel/vault.ts';
import { makeAffiliate } from '../api/fixtures.ts';
import { waitingForLocks } from '../support/held.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';

const NEW = 'the new secret key, long enough for the rule';
const world = useWorld({
  settings: { SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: inject('postgres').secretKey },
});

test('a rotation of the secret key does not wait for others who replace bank accounts in another order', async () => {
  const affiliates = [await makeAffiliate(world.api), await makeAffiliate(world.api)];
  for (const { id } of affiliates) {
    const account = { type: 'sepa', account_holder: 'Ada', iban: 'DE89370400440532013000' };
    const made = await world.api.put(`/v2/affiliates/${id}/destination`, account);
    expect(made.status, made.text).toBe(200);
  }
  const [first, second] = await world.query<{ id: string }>(
    'select id from affiliate_destinations order by account_id, id',
  );
  const take = (tx: Tx, row: { id: string } | undefined) =>
    rows(tx, sql`select from affiliate_destinations where id = ${row?.id} for no key update`);
  const isNew = async (row: { id: string } | undefined) => {
    const prefix = sealPrefix(fingerprintOf(NEW)).toString('hex');
    const [found] = await world.query<{ number: string }>(
      `select encode(number, 'hex') as number from affiliate_destinations where id = '${row?.id}'`,
    );
    return found?.number.startsWith(prefix);
  };
  let rotation: Promise<unknown> | undefined;
  await world.db.transaction(async (tx) => {
    await take(tx, second);
    rotation = rotateSecretKey(world.platform, () => undefined);
    await until('the rotation to have come to the row, or past it', async () => {
      return (await waitingForLocks(world)).length > 0 || (await isNew(first));
    });
    await take(tx, first);
  });
  expect(await rotation).toMatchObject({ destinations: 2 });
  expect([await isNew(first), await isNew(second)]).toEqual([true, true]);
});
