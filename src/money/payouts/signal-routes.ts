import { ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { csvReply } from '../files/csv-export.ts';
import { payout } from '../ledger/payout-record.ts';
import { payoutSignal } from '../ledger/signal-record.ts';
import { etagOf, payoutHead } from './service.ts';
import { downloadSignals, listSignals, review, reviewPayout, signalList } from './signals.ts';

const path = '/v2/affiliates/payouts/{payout_id}/signals';
const missing = ['resource_missing', 'no_current_payout'] as const;

export const list = readRoute({
  operation: 'listPayoutSignals',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List the signals of a payout',
  description:
    'What may point to fraud in its lines, found when it was created and when it changed, and who reviewed it. Those that no longer ' +
    'hold stay: `is_ended=false` leaves them out.',
  list: signalList,
  returns: { 200: listOf(payoutSignal) },
  errors: missing,
  handle: async ({ snapshot, account, params, list: asked }) =>
    page(
      await snapshot(async (db) => {
        const { id } = await payoutHead(db, account, params.payout_id);
        return listSignals(db, account, id, asked);
      }),
    ),
});

export const download = readRoute({
  operation: 'downloadPayoutSignals',
  path: `${path}/download`,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Download the signals of a payout as CSV',
  replicable: true,
  returns: { 200: 'text/csv' },
  errors: missing,
  handle: ({ snapshot, account, params }) =>
    csvReply(snapshot, (db) => downloadSignals(db, account, params.payout_id)),
});

export const reviewRoute = writeRoute({
  operation: 'reviewPayoutSignals',
  method: 'POST',
  path: `${path}/review`,
  needs: 'approve',
  sends: ['ETag'],
  summary: 'Review signals of a payout',
  description:
    'Notes that you, a signed-in user, have looked into signals, so that they no longer block. Signals that are found later need a ' +
    'review of their own. Approving the payout reviews those that do not block.',
  body: review,
  returns: { 200: payout },
  errors: [
    'resource_missing',
    'current_is_read_only',
    'affiliate_not_in_payout',
    'payout_is_paid',
    'payout_changed',
  ],
  handle: async ({ tx, principal, params, body }) => {
    const { json, revision } = await reviewPayout(tx, principal, params.payout_id, body);
    return ok(json, { etag: etagOf(revision) });
  },
});
