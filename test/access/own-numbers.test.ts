import { expect, test } from 'vitest';
import { ROLE_NAMES } from '../../src/contract/roles.ts';
import { makeGrant } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { bearer, memberOf, send } from './support.ts';

// The numbers of the account that its payment files and invoices contain.

const world = useWorld();
const api = useAccount(world);

const WHOLE = {
  debtor: { iban: 'DE02120300000000202051' },
  originator: { immediate_origin: '1987654321', company_id: '1123456789' },
  tax_profile: { tax_number: '27/123/45678' },
};
const MASKED = {
  debtor: { iban: '…2051' },
  originator: { immediate_origin: '…4321', company_id: '…6789' },
  tax_profile: { tax_number: '…5678' },
};
const SEES_WHOLE = { owner: true, member: true, finance: true, approver: true, viewer: false };

async function furnish(): Promise<void> {
  const answer = await api.patch('/v2/account', {
    debtor: { name: 'Shop', ...WHOLE.debtor },
    originator: {
      immediate_destination: '021000021',
      immediate_destination_name: 'JPMorgan Chase',
      immediate_origin_name: 'Shop',
      company_name: 'Shop',
      ...WHOLE.originator,
    },
    tax_profile: {
      legal_name: 'Shop GmbH',
      country: 'DE',
      address: { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' },
      vat_id: 'DE136695976',
      ...WHOLE.tax_profile,
    },
  });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject(WHOLE);
}

test.each(ROLE_NAMES)('%s sees the numbers of the account whole or masked, as decided', async (role) => {
  await furnish();
  const { credentials } = await memberOf(api, role);
  const { body } = await send(world, credentials, ['GET', '/v2/account']);
  expect(body).toMatchObject(SEES_WHOLE[role] ? WHOLE : MASKED);
  expect(body.tax_profile.vat_id).toBe('DE136695976');
});

test('an application that sees masked numbers cannot store them by writing back what it read', async () => {
  await furnish();
  const grant = (scope: string) => makeGrant(world, api, { scopes: ['account', 'affiliates'], scope });
  const both = bearer((await grant('account affiliates')).access_token);
  expect((await send(world, both, ['GET', '/v2/account'])).body).toMatchObject(WHOLE);

  const one = bearer((await grant('account')).access_token);
  const { body: read } = await send(world, one, ['GET', '/v2/account']);
  expect(read).toMatchObject(MASKED);
  for (const field of ['debtor', 'originator', 'tax_profile'] as const) {
    const answer = await send(world, one, ['PATCH', '/v2/account', { body: { [field]: read[field] } }]);
    expect([answer.status, answer.reason], answer.text).toEqual([400, 'invalid_body']);
    expect(answer.body.error.message).toContain(`${field}.${Object.keys(MASKED[field])[0]}`);
  }
  const renamed = await send(world, one, ['PATCH', '/v2/account', { body: { name: 'Renamed' } }]);
  expect([renamed.status, renamed.body.name], renamed.text).toEqual([200, 'Renamed']);
  expect(renamed.body).toMatchObject(MASKED);
  expect((await api.get('/v2/account')).body).toMatchObject(WHOLE);
});
