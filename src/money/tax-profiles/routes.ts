import { noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { newTaxProfile, taxProfile } from './record.ts';
import { getTaxProfile, listTaxProfiles, putTaxProfile, removeTaxProfile } from './service.ts';
import { taxProfileList } from './store.ts';

const path = '/v2/affiliates/{affiliate_id}/tax-profile';

export const list = readRoute({
  operation: 'listAffiliateTaxProfiles',
  path: '/v2/affiliates/tax-profiles',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List who affiliates are to a tax office',
  description:
    'For example those whose form lapses at the end of this year. Affiliates without a tax profile are not listed.',
  list: taxProfileList,
  returns: { 200: listOf(taxProfile) },
  handle: async ({ db, account, list: wanted }) => page(await listTaxProfiles(db, account, wanted)),
});

export const get = readRoute({
  operation: 'getAffiliateTaxProfile',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get who an affiliate is to a tax office',
  description: 'What the affiliate signed. The tax id is shown by its end.',
  returns: { 200: taxProfile },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getTaxProfile(db, account, params.affiliate_id)),
});

export const put = writeRoute({
  operation: 'putAffiliateTaxProfile',
  method: 'PUT',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Set who an affiliate is to a tax office',
  description:
    'Replaces the tax profile. Only `tax_id` may be left out to keep the one there is. Numbers of the United States are ' +
    'checked by their form, VAT ids by their check digits too; no office is asked. `legal_type` and `country` of the ' +
    'affiliate stay what your shop says, and go for who has no tax profile. The tax id is sealed and never shown again ' +
    'but in the export of the US report.',
  body: newTaxProfile,
  returns: { 200: taxProfile },
  errors: ['resource_missing'],
  handle: async ({ tx, account, env: { vault }, params, body }) =>
    ok(await putTaxProfile(tx, { account, vault }, params.affiliate_id, body)),
});

export const remove = writeRoute({
  operation: 'deleteAffiliateTaxProfile',
  method: 'DELETE',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Delete who an affiliate is to a tax office',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await removeTaxProfile(tx, account, params.affiliate_id);
    return noContent();
  },
});
