import { created, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { numberIdOf } from '../../kernel/ids.ts';
import { eraseAffiliate, erasure } from './erase.ts';
import { affiliateList, listAffiliates } from './list.ts';
import { readBalances } from './owed.ts';
import {
  affiliate,
  affiliateChange,
  affiliateWithBalance,
  namedAffiliateChange,
  newAffiliate,
  owedInAll,
} from './record.ts';
import {
  changeAffiliate,
  createAffiliate,
  getByExternalId,
  missingAffiliate,
  putAffiliate,
} from './service.ts';
import { readAffiliate } from './store.ts';

export const list = readRoute({
  operation: 'listAffiliates',
  path: '/v2/affiliates',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List affiliates',
  description:
    'With their balances. `sort=-unpaid` begins with whom most is owed that a payout may take, in `balance_currency`, ' +
    "by default the account's; who has nothing in it stays in the list, at 0.",
  list: affiliateList,
  returns: { 200: listOf(affiliateWithBalance) },
  handle: async ({ db, account, list }) => page(await listAffiliates(db, account, list)),
});

export const balances = readRoute({
  operation: 'getBalances',
  path: '/v2/affiliates/balances',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get what is owed in all',
  description:
    'What all affiliates are owed, by currency and state. `payable` is what a payout without filters would take now; what ' +
    'else is not in the unpaid payout has the reason for which that would leave it out.',
  replicable: true,
  returns: { 200: owedInAll },
  errors: ['amount_too_large'],
  handle: async ({ db, account }) => ok(await readBalances(db, account)),
});

export const create = writeRoute({
  operation: 'createAffiliate',
  method: 'POST',
  path: '/v2/affiliates',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Create an affiliate',
  description:
    'If the affiliate exists, the answer is a 409 whose `Location` is the affiliate with that e-mail address or external_id.',
  body: newAffiliate,
  returns: { 201: affiliate },
  creates: '/v2/affiliates/{affiliate_id}',
  errors: ['duplicate_email', 'duplicate_external_id'],
  locatesDuplicates: true,
  handle: async ({ tx, account, body }) => created(await createAffiliate(tx, account, body)),
});

export const get = readRoute({
  operation: 'getAffiliate',
  path: '/v2/affiliates/{affiliate_id}',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get an affiliate with its balance',
  returns: { 200: affiliateWithBalance },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => {
    const id = numberIdOf(params.affiliate_id);
    const json = id === null ? null : await readAffiliate(db, account, id);
    if (json === null) throw missingAffiliate();
    return ok(json);
  },
});

export const change = writeRoute({
  operation: 'changeAffiliate',
  method: 'PATCH',
  path: '/v2/affiliates/{affiliate_id}',
  scope: 'affiliates',
  needs: 'write',
  summary: 'Change an affiliate',
  description:
    'Changes the fields you send; null clears. A new name or destination shows in the unpaid payout at once and raises its ' +
    'revision. Sending the current values is no change and causes no event.',
  body: affiliateChange,
  returns: { 200: affiliate },
  errors: ['resource_missing', 'duplicate_email', 'duplicate_external_id'],
  locatesDuplicates: true,
  handle: async ({ tx, account, params, body }) =>
    ok(await changeAffiliate(tx, account, params.affiliate_id, body)),
});

export const erase = writeRoute({
  operation: 'eraseAffiliate',
  method: 'POST',
  takesLong: true,
  path: '/v2/affiliates/{affiliate_id}/erase',
  needs: 'own',
  summary: 'Erase the person behind an affiliate',
  description:
    'Takes names, e-mail addresses and your own id out of the affiliate, its payouts and imports at once, then out of ' +
    'commissions, refunds, events, attempts, stored answers and the audit log. It cannot be undone. Amounts stay, and the affiliate ' +
    'stays as an inactive one without a name. Ask again to learn whether it is completed. An affiliate with the same e-mail address ' +
    'that is created or imported afterwards is a new one.',
  returns: { 200: erasure },
  errors: ['resource_missing', 'affiliate_in_payout'],
  handle: async ({ tx, account, params }) => ok(await eraseAffiliate(tx, account, params.affiliate_id)),
});

const byExternalId = '/v2/affiliates/by-external-id/{external_id}';
const inPath = {
  external_id: {
    description: 'your own id of the affiliate, percent-encoded',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
};

export const getOwn = readRoute({
  operation: 'getAffiliateByExternalId',
  path: byExternalId,
  inPath,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get an affiliate by your own id',
  description: 'With its balance.',
  returns: { 200: affiliateWithBalance },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getByExternalId(db, account, params.external_id)),
});

export const put = writeRoute({
  operation: 'putAffiliateByExternalId',
  method: 'PUT',
  path: byExternalId,
  inPath,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Create or change an affiliate by your own id',
  description:
    'Creates the affiliate with this external_id (201; `email` is required), or changes the fields you send if it exists ' +
    '(200). Absent fields stay as they are, null clears, and sending the current values causes no event. Two requests at once ' +
    'create one affiliate. An e-mail address of another affiliate is a 409.',
  body: namedAffiliateChange,
  returns: { 200: affiliate, 201: affiliate },
  creates: '/v2/affiliates/{affiliate_id}',
  errors: ['duplicate_email'],
  locatesDuplicates: true,
  handle: async ({ tx, account, params, body }) => {
    const { json, isNew } = await putAffiliate(tx, account, params.external_id, body);
    return isNew ? created(json) : ok(json);
  },
});
