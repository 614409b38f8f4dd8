import { noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { destinationCorrection } from '../ledger/corrections.ts';
import { destination, destinations, newDestination, ofCurrency, verifiedName } from './record.ts';
import {
  acceptCorrection,
  dismissCorrection,
  getDestinations,
  putDestination,
  removeDestination,
  useVerifiedName,
} from './service.ts';
import { correctionList, listOfCorrections } from './store.ts';

const path = '/v2/affiliates/{affiliate_id}/destination';

export const get = readRoute({
  operation: 'getAffiliateDestinations',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get where an affiliate is paid',
  description:
    'The one destination for all currencies, and those for single currencies. Account numbers are shown by their last four ' +
    'characters.',
  returns: { 200: destinations },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getDestinations(db, account, params.affiliate_id)),
});

export const put = writeRoute({
  operation: 'putAffiliateDestination',
  method: 'PUT',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Set where an affiliate is paid',
  description:
    'Replaces the destination for `currency`, or the one for all currencies. `sepa` needs `account_holder` and `iban`, and ' +
    'takes `bic`; `ach` needs `account_holder`, `routing_number`, `account_number` and `account_type`; the other types need ' +
    'nothing more. A destination is used instead of `payout_method`. It shows in the unpaid payout at once and raises its revision. ' +
    'IBAN and account number are sealed and never shown again.',
  body: newDestination,
  returns: { 200: destination },
  errors: ['resource_missing'],
  handle: async ({ tx, account, env: { vault }, params, body }) =>
    ok(await putDestination(tx, { account, vault }, params.affiliate_id, body)),
});

export const useName = writeRoute({
  operation: 'useVerifiedName',
  method: 'POST',
  path: `${path}/verified-name`,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Use the name that the bank of the payee has',
  description:
    'Makes `verification.bank_name` of a destination its account holder. IBAN and BIC stay. Like every change it raises the revision of ' +
    'the unpaid payout, and `destination_wait_hours` applies. The answer of the bank is kept, with the name that was replaced.',
  body: verifiedName,
  returns: { 200: destination },
  errors: ['resource_missing', 'no_verified_name'],
  handle: async ({ tx, account, env: { vault }, params, body }) =>
    ok(await useVerifiedName(tx, { account, vault }, params.affiliate_id, body)),
});

const corrections = '/v2/affiliates/destination-corrections';

export const listCorrections = readRoute({
  operation: 'listDestinationCorrections',
  path: corrections,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List what banks corrected in where affiliates are paid',
  description:
    'The notifications of change in the NACHA files of banks, those due first. Account numbers are shown by their last four characters.',
  list: correctionList,
  returns: { 200: listOf(destinationCorrection) },
  errors: [],
  handle: async ({ snapshot, account, list }) =>
    page(await snapshot((db) => listOfCorrections(db, account, list))),
});

export const accept = writeRoute({
  operation: 'acceptDestinationCorrection',
  method: 'POST',
  path: `${corrections}/{correction_id}/accept`,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Accept the correction of a destination',
  description:
    'Makes the destination what the bank says. Like every change it raises the revision of the unpaid payout, and `destination_wait_hours` ' +
    'applies. The correction is kept.',
  returns: { 200: destinationCorrection },
  errors: ['resource_missing', 'correction_not_open'],
  handle: async ({ tx, principal, env: { vault }, params }) =>
    ok(await acceptCorrection(tx, principal, vault, params.correction_id)),
});

export const dismiss = writeRoute({
  operation: 'dismissDestinationCorrection',
  method: 'POST',
  path: `${corrections}/{correction_id}/dismiss`,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Dismiss the correction of a destination',
  description: 'Leaves the destination as it is. The correction is kept.',
  returns: { 200: destinationCorrection },
  errors: ['resource_missing', 'correction_not_open'],
  handle: async ({ tx, principal, params }) =>
    ok(await dismissCorrection(tx, principal, params.correction_id)),
});

export const remove = writeRoute({
  operation: 'deleteAffiliateDestination',
  method: 'DELETE',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Delete where an affiliate is paid',
  description:
    'Deletes the destination for `currency`, or the one for all currencies. Without any the affiliate is paid as its ' +
    '`payout_method` and `paypal_email` say. Raises the revision of the unpaid payout.',
  query: ofCurrency,
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params, query }) => {
    await removeDestination(tx, account, params.affiliate_id, query.currency);
    return noContent();
  },
});
