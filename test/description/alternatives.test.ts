import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { describe } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(JSON.parse(JSON.stringify(describe(ROUTES))), 'published', false, false);
const isDescribed = (schema: string, body: object) =>
  ajv.validate({ $ref: `published#/components/schemas/${schema}` }, body);

const SEPA = { type: 'sepa', account_holder: 'Ada Lovelace', iban: 'DE89370400440532013000' };
const ACH = {
  type: 'ach',
  account_holder: 'Ada Lovelace',
  routing_number: '021000021',
  account_number: '12345678',
  account_type: 'savings',
};
const SALE = { external_id: 'sale', amount: 100 };
const [BY_ID, BY_EMAIL] = [{ affiliate_id: 0 }, { affiliate_email: 'ada@example.com' }];

/** [schema, body, whether the description allows it] */
const BODIES = [
  ['PutAffiliateDestinationBody', SEPA, true],
  ['PutAffiliateDestinationBody', { ...SEPA, currency: 'eur', bic: 'COBADEFFXXX' }, true],
  ['PutAffiliateDestinationBody', { ...SEPA, routing_number: '021000021' }, false],
  ['PutAffiliateDestinationBody', { ...SEPA, iban: undefined }, false],
  ['PutAffiliateDestinationBody', ACH, true],
  ['PutAffiliateDestinationBody', { ...ACH, bic: 'COBADEFFXXX' }, false],
  ['PutAffiliateDestinationBody', { ...ACH, account_type: undefined }, false],
  ['PutAffiliateDestinationBody', { type: 'wise' }, true],
  ['PutAffiliateDestinationBody', { type: 'wise', iban: SEPA.iban }, false],
  ['PutAffiliateDestinationBody', { ...SEPA, type: 'wise_bank' }, true],
  ['PutAffiliateDestinationBody', { ...SEPA, type: 'wise_bank', bic: 'COBADEFFXXX' }, false],
  ['PutAffiliateDestinationBody', { type: 'cash' }, false],
  ['CommissionInput', { ...SALE, ...BY_ID }, true],
  ['CommissionInput', { ...SALE, ...BY_EMAIL }, true],
  ['CommissionInput', { ...SALE, affiliate_external_id: 'partner-7' }, true],
  ['CommissionInput', SALE, false],
  ['CommissionInput', { ...SALE, ...BY_ID, ...BY_EMAIL }, false],
  ['CommissionInput', { ...SALE, ...BY_ID, ammount: 5 }, false],
] as const;

test('the server accepts the alternatives that the description shows, and refuses what it does not', async () => {
  const affiliate = { email: 'ada@example.com', external_id: 'partner-7' };
  const { id } = (await world.api.post('/v2/affiliates', affiliate)).body;
  for (const [index, [schema, given, isAllowed]] of BODIES.entries()) {
    const isSale = schema === 'CommissionInput';
    const body = {
      ...given,
      ...(isSale ? { external_id: `sale-${index}` } : {}),
      ...('affiliate_id' in given ? { affiliate_id: id } : {}),
    };
    // as it is sent
    const sent = JSON.parse(JSON.stringify(body));
    const { status } = isSale
      ? await world.api.post('/v2/affiliates/commissions', sent)
      : await world.api.put(`/v2/affiliates/${id}/destination`, sent);
    const name = JSON.stringify(sent);
    expect([name, isDescribed(schema, sent), status < 300]).toEqual([name, isAllowed, isAllowed]);
  }
});
