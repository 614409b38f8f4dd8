import { Type } from 'typebox';
import { created, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf, strict } from '../../contract/schemas.ts';
import { lineVerification, proposal, resultRecord } from './record.ts';
import { listResults, listVerifications, takeResult } from './service.ts';
import { resultList, verificationList } from './store.ts';

const path = '/v2/affiliates/payouts/{payout_id}/results';

export const take = writeRoute({
  operation: 'takePayoutResult',
  method: 'POST',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Read the answer of a bank or provider',
  description:
    'Takes a camt.053, camt.054 or pain.002 of a bank, a NACHA file with returns, a report of PayPal or Wise, verifications of payees as JSON, or a CSV file with `reference` or ' +
    '`affiliate_id`. Its kind is recognised by its bytes; text/csv, application/xml and application/json are accepted too. The response proposes ' +
    'a result for each line and changes nothing; verifications of payees are kept with their destinations, and ' +
    'corrections of destinations are proposed. Complete the payout with the lines you agree with, and book returns. A ' +
    'line without an answer may have been paid: do not release it before you know. docs/results.md has the layouts.',
  query: strict({
    ignore_columns: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          'names of columns, separated by commas, that say nothing about payments in a list of your own; any other unknown column ' +
          'is refused',
      }),
    ),
  }),
  upload: 'application/octet-stream',
  returns: { 201: proposal },
  errors: [
    'resource_missing',
    'current_is_read_only',
    'invalid_file',
    'result_of_another_payout',
    'too_much_work',
  ],
  handle: async ({ tx, principal, env: { threads, vault }, params, query, upload }) => {
    const ignored = query.ignore_columns?.split(',') ?? [];
    return created(await takeResult(tx, principal, params.payout_id, { upload, threads, vault, ignored }));
  },
});

export const list = readRoute({
  operation: 'listPayoutResults',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List the result files of a payout',
  list: resultList,
  returns: { 200: listOf(resultRecord) },
  errors: ['resource_missing', 'no_current_payout'],
  handle: async ({ snapshot, account, params, list }) =>
    page(await snapshot((db) => listResults(db, account, params.payout_id, list))),
});

export const verifications = readRoute({
  operation: 'listPayoutVerifications',
  path: '/v2/affiliates/payouts/{payout_id}/verifications',
  scope: 'affiliates',
  needs: 'read',
  summary: 'List what banks answered about the payees of a payout',
  description:
    'The last verification of each destination that the payout pays, also from the files of earlier payouts. A destination that was ' +
    'changed since has none. `is_mismatch=true` lists those to decide about before the payout is approved.',
  list: verificationList,
  returns: { 200: listOf(lineVerification) },
  errors: ['resource_missing', 'no_current_payout'],
  handle: async ({ snapshot, account, params, list }) =>
    page(await snapshot((db) => listVerifications(db, account, params.payout_id, list))),
});
