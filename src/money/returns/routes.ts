import { noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { line } from '../ledger/payout-record.ts';
import { newReturn, payoutReturn } from './record.ts';
import { listReturns, returnMoney, undoReturn } from './service.ts';
import { returnList } from './store.ts';

const path = '/v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned';

export const returned = writeRoute({
  operation: 'returnPayoutLine',
  method: 'POST',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Book a return',
  description:
    'Books the return of a payment, in full or in part, as often as needed, up to the amount paid. The money is owed to the affiliate ' +
    'again, exempt from the minimum. Idempotent by `external_id`.',
  body: newReturn,
  returns: { 200: line },
  errors: [
    'resource_missing',
    'current_is_read_only',
    'duplicate_external_id',
    'line_not_paid',
    'already_returned',
    'return_exceeds_paid',
    'invalid_amount',
  ],
  handle: async ({ tx, account, params, body }) =>
    ok(await returnMoney(tx, account, params.payout_id, params.affiliate_id, body)),
});

export const list = readRoute({
  operation: 'listPayoutReturns',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List the returns of a line',
  description: 'Includes returns that were undone.',
  list: returnList,
  returns: { 200: listOf(payoutReturn) },
  errors: ['resource_missing', 'no_current_payout'],
  handle: async ({ snapshot, account, params, list }) =>
    page(await snapshot((db) => listReturns(db, account, params.payout_id, params.affiliate_id, list))),
});

export const undo = writeRoute({
  operation: 'deletePayoutReturn',
  method: 'DELETE',
  path: `${path}/{return_id}`,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Delete a return',
  description:
    'Undoes a return booked by mistake, as long as its money was not paid again. Its adjustment is voided and leaves the ' +
    'unpaid payout. The record stays, with `undone_at`.',
  returns: { 204: null },
  errors: ['resource_missing', 'current_is_read_only', 'return_is_undone', 'return_paid_again'],
  handle: async ({ tx, account, params }) => {
    await undoReturn(tx, account, params.payout_id, params.affiliate_id, params.return_id);
    return noContent();
  },
});
