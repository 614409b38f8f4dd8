import { expect, test } from 'vitest';
import { uuidOf } from '../../src/kernel/ids.ts';
import { AFFILIATES, completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import type { Answer } from '../support/api.ts';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';

/*
 * An attacker who can write to the tables, but does not have the secret key, copies a sealed value of another account
 * into a row of their own and requests it from the program.
 */

const world = useWorld();
const api = useAccount(world, 'Owner');

const TAX_ID = '536904399';
const PROFILE = {
  legal_type: 'person',
  legal_name: 'Ada Lovelace',
  country: 'US',
  address: { line1: '1 Main St', city: 'Boston', region: 'MA', postal_code: '02108' },
};

/** Another account, with the UUIDs of both. */
async function otherAccount() {
  const client = await world.otherAccount('Reader');
  const [reader, owner] = await world.query<{ id: string }>(
    'select id from accounts order by id desc limit 2',
  );
  return { client, reader: reader?.id, owner: owner?.id };
}

function expectUnopened({ status, body, text }: Answer, secret: string) {
  expect({ status, code: body.error?.code }).toEqual({ status: 500, code: 'internal_error' });
  expect(text).not.toContain(secret);
}

test('a signing secret cannot be opened in another account', async () => {
  const endpoint = await makeEndpoint(api);
  const path = `/v2/webhook-endpoints/${endpoint}/secret`;
  const { secret } = (await api.get(path)).body;
  expect(secret).toMatch(/^whsec_/);

  const { client, reader } = await otherAccount();
  await world.query(
    // a CTE: Citus refuses an insert of rows of a table if a default calls a function
    `with x as (select id, url, secret from webhook_endpoints where id = $1)
     insert into webhook_endpoints (account_id, id, url, secret) select $2::uuid, id, url, secret from x`,
    [uuidOf('we', endpoint), reader],
  );
  world.expectErrors();
  expectUnopened(await client.get(path), secret);
});

test('a tax id cannot be opened in another account', async () => {
  const { client, reader, owner } = await otherAccount();
  for (const each of [api, client]) {
    const { id } = await makeAffiliate(each, { payout_method: 'wise' });
    const tax = { ...PROFILE, tax_id: { type: 'us_ssn', number: TAX_ID } };
    expect((await each.put(`${AFFILIATES}/${id}/tax-profile`, tax)).status).toBe(200);
    await makeCommission(each, id, { amount: 200_000, currency: 'usd' });
    await completePayout(each, await makePayout(each));
  }
  const report = `/v2/affiliates/reports/us-tax/export?year=${new Date().getUTCFullYear()}`;
  expect((await client.post(report)).text).toContain(TAX_ID);

  await world.query(
    `update affiliate_tax_profiles theirs set id = ours.id, number = ours.number
     from affiliate_tax_profiles ours where theirs.account_id = $1 and ours.account_id = $2`,
    [reader, owner],
  );
  world.expectErrors();
  expectUnopened(await client.post(report), TAX_ID);
});
