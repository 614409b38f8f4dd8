import type { Static, TSchema } from 'typebox';
import type { ListDefinition, ListQuery, Page } from '../../contract/lists.ts';
import { created, noContent, ok, page, type Route, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { commissionList, listPayoutCommissions } from '../commissions/list.ts';
import { commission } from '../commissions/record.ts';
import { csvReply } from '../files/csv-export.ts';
import { line, payout, payoutSummary } from '../ledger/payout-record.ts';
import { personBehind } from '../ledger/person-behind.ts';
import { payoutSignal } from '../ledger/signal-record.ts';
import { decidePayout } from './approval.ts';
import { payoutApproval } from './approval-record.ts';
import { getApproval } from './approval-view.ts';
import { completePayout } from './completion.ts';
import { exclusionList, lineList, listExclusions, listLines, listPayouts, payoutList } from './lists.ts';
import type { Selection } from './plan.ts';
import {
  previewExclusionList,
  previewExclusions,
  previewLineList,
  previewLines,
  previewSignalList,
  previewSignals,
} from './preview.ts';
import {
  completed,
  completion,
  decision,
  exclusion,
  preview,
  previewExclusion,
  selection,
} from './record.ts';
import {
  createPayout,
  downloadPayout,
  etagOf,
  getPayout,
  type PayoutRecord,
  payoutHead,
  previewPage,
  previewPayout,
  removePayout,
} from './service.ts';

const LONG_LIST_LIMIT = 16 << 20;
/** 100,000 lines with all their fields. */
const LONG_LIST_PARTS = 600_000;

const reply = <T>({ json, revision }: PayoutRecord<T>) => ok(json, { etag: etagOf(revision) });
const path = '/v2/affiliates/payouts';
const one = '/v2/affiliates/payouts/{payout_id}';
const filterErrors = [
  'unknown_filter',
  'unknown_operator',
  'invalid_filter',
  'too_many_filters',
  'unknown_affiliate',
  'unknown_program',
] as const;
const missing = ['resource_missing', 'no_current_payout'] as const;

export const list = readRoute({
  operation: 'listPayouts',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List affiliate payouts',
  list: payoutList,
  returns: { 200: listOf(payoutSummary) },
  handle: async ({ db, account, list }) => page(await listPayouts(db, account, list)),
});

export const create = writeRoute({
  operation: 'createPayout',
  method: 'POST',
  takesLong: true,
  path,
  scope: 'affiliates',
  needs: 'write',
  sends: ['ETag'],
  summary: 'Create a payout',
  description:
    'Takes all unpaid commissions that match the filters and are not on hold. An account has at most one unpaid payout.',
  body: selection,
  bodyOptional: true,
  returns: { 201: payout },
  creates: '/v2/affiliates/payouts/{payout_id}',
  errors: [...filterErrors, 'current_payout_exists', 'nothing_to_pay', 'amount_too_large'],
  handle: async ({ tx, principal, body }) => {
    const user = await personBehind(tx, principal.account, principal);
    const { json, revision } = await createPayout(tx, principal, { user, schedule: null }, body);
    return created(json, { etag: etagOf(revision) });
  },
});

export const previewOne = writeRoute({
  operation: 'previewPayout',
  method: 'POST',
  path: '/v2/affiliates/payouts/preview',
  scope: 'affiliates',
  needs: 'read',
  summary: 'Preview a payout',
  description:
    'Shows exactly what create would do now, without doing it. Use it as a report of what you owe.',
  body: selection,
  bodyOptional: true,
  returns: { 200: preview },
  errors: [...filterErrors, 'amount_too_large'],
  unaudited: true,
  handle: async ({ tx, account, body }) => ok(await previewPayout(tx, account, body)),
});

/** A list of what create would do now: the body of create with the query of a list. */
function previewList<Item extends TSchema>(
  part: string,
  spec: {
    operation: string;
    summary: string;
    list: ListDefinition;
    item: Item;
    read: (db: Reader, selection: Selection, list: ListQuery) => Promise<Page<Static<Item>>>;
  },
): Route {
  return writeRoute({
    operation: spec.operation,
    method: 'POST',
    path: `/v2/affiliates/payouts/preview/${part}`,
    scope: 'affiliates',
    needs: 'read',
    summary: spec.summary,
    description: 'Works for any number of rows. Each page is computed when requested.',
    body: selection,
    bodyOptional: true,
    list: spec.list,
    returns: { 200: listOf(spec.item) },
    errors: filterErrors,
    unaudited: true,
    handle: async ({ tx, account, body, list }) =>
      page(await previewPage(tx, account, body, (db, chosen) => spec.read(db, chosen, list))),
  });
}

export const previewAffiliates = previewList('affiliates', {
  operation: 'previewPayoutAffiliates',
  summary: 'List the lines a payout would pay',
  list: previewLineList,
  item: line,
  read: previewLines,
});

export const previewExcluded = previewList('excluded', {
  operation: 'previewPayoutExclusions',
  summary: 'List the affiliates a payout would leave out',
  list: previewExclusionList,
  item: previewExclusion,
  read: previewExclusions,
});

export const previewSignalsOf = previewList('signals', {
  operation: 'previewPayoutSignals',
  summary: 'List the signals of a payout that would be created',
  list: previewSignalList,
  item: payoutSignal,
  read: previewSignals,
});

export const getCurrent = readRoute({
  operation: 'getCurrentPayout',
  path: '/v2/affiliates/payouts/current',
  scope: 'affiliates',
  needs: 'read',
  sends: ['ETag'],
  summary: 'Get the current unpaid payout',
  returns: { 200: payout },
  errors: ['no_current_payout'],
  handle: async ({ db, account }) => reply(await getPayout(db, account, 'current')),
});

export const get = readRoute({
  operation: 'getPayout',
  path: one,
  scope: 'affiliates',
  needs: 'read',
  sends: ['ETag'],
  summary: 'Get a payout by id',
  description: '`current` in place of the id reads the unpaid payout, here and in the paths below.',
  returns: { 200: payout },
  errors: missing,
  handle: async ({ db, account, params }) => reply(await getPayout(db, account, params.payout_id)),
});

export const complete = writeRoute({
  operation: 'completePayout',
  method: 'PUT',
  takesLong: true,
  path: one,
  scope: 'affiliates',
  needs: 'write',
  sends: ['ETag'],
  summary: 'Complete a payout',
  description:
    'Marks who was paid. A line is one affiliate in one currency. An entry covers one line, or without `currency` ' +
    'all lines of the affiliate. Listed with true: paid, in full or up to `amount`, with the rest owed again. ' +
    'Listed with false, or not listed: the commissions are released and owed again.',
  body: completion,
  bodyLimit: LONG_LIST_LIMIT,
  mostParts: LONG_LIST_PARTS,
  ifMatch: true,
  returns: { 200: completed },
  errors: [
    'resource_missing',
    'current_is_read_only',
    'payout_is_paid',
    'payout_changed',
    'approval_missing',
    'invalid_if_match',
    'duplicate_entry',
    'affiliate_not_in_payout',
    'invalid_amount',
    'affiliates_missing',
    'signals_unreviewed',
    'destination_waiting',
  ],
  handle: async ({ tx, account, principal, params, body, ifMatch }) =>
    reply(
      await completePayout(tx, account, principal.id, params.payout_id, {
        commissions: body.commissions,
        requireAll: body.require_all ?? false,
        paidAt: body.paid_at,
        metadata: body.metadata,
        ifMatch,
      }),
    ),
});

const approverErrors = ['approver_is_creator', 'approver_changed_payout', 'approver_let_in'] as const;

/** A person's decision about the payout. */
const decide = (name: 'approve' | 'reject', summary: string, description: string) =>
  writeRoute({
    operation: `${name}Payout`,
    method: 'POST',
    path: `${one}/${name}`,
    needs: 'approve',
    sends: ['ETag'],
    summary,
    description,
    body: decision,
    returns: { 200: payout },
    errors: [
      'resource_missing',
      'current_is_read_only',
      'payout_is_paid',
      'payout_changed',
      'approval_not_needed',
      ...(name === 'approve' ? ([...approverErrors, 'signals_unreviewed'] as const) : []),
    ],
    handle: async ({ tx, principal, params, body }) =>
      reply(
        await decidePayout(tx, principal, params.payout_id, {
          decision: name === 'approve' ? 'approved' : 'rejected',
          revision: body.revision,
          note: body.note ?? null,
        }),
      ),
  });

export const approve = decide(
  'approve',
  'Approve a payout',
  'For accounts whose `approval` is `second_person`. Needs the session of a user who did not create or change the ' +
    'payout, and was not let in since by a user who did. An approval applies to one revision: any change of the payout ' +
    'voids it. A payout whose author is unknown needs two. Until approved, it has no payment files and cannot be completed. ' +
    '`getPayoutApproval` says who may approve.',
);

export const approval = readRoute({
  operation: 'getPayoutApproval',
  path: `${one}/approval`,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get the approval of a payout',
  description:
    'Who created and changed the payout, how many people must approve it, who did, and for each owner ' +
    'and member whether they can approve, or why not.',
  returns: { 200: payoutApproval },
  errors: missing,
  handle: async ({ snapshot, principal, params }) =>
    ok(await snapshot((db) => getApproval(db, principal, params.payout_id))),
});

export const reject = decide(
  'reject',
  'Reject a payout',
  'The payout stays visible as it is until it is changed, deleted or approved.',
);

export const remove = writeRoute({
  operation: 'deletePayout',
  method: 'DELETE',
  takesLong: true,
  path: one,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Delete a payout',
  description: 'Only an unpaid payout can be deleted; its commissions are released.',
  ifMatch: true,
  returns: { 204: null },
  errors: [
    'resource_missing',
    'current_is_read_only',
    'payout_is_paid',
    'payout_changed',
    'invalid_if_match',
  ],
  handle: async ({ tx, account, params, ifMatch }) => {
    await removePayout(tx, account, params.payout_id, ifMatch);
    return noContent();
  },
});

export const download = readRoute({
  operation: 'downloadPayout',
  path: `${one}/download`,
  scope: 'affiliates',
  needs: 'read',
  sends: ['ETag'],
  summary: 'Download payout CSV',
  description:
    'One row per commission: all commissions of an unpaid payout, and the paid ones of a paid payout.',
  replicable: true,
  returns: { 200: 'text/csv' },
  errors: missing,
  handle: ({ snapshot, account, params }) =>
    csvReply(snapshot, (db) => downloadPayout(db, account, params.payout_id)),
});

/** A list within a payout. The payout and the page are read from one snapshot. */
function listWithin<Item extends TSchema>(
  part: string,
  spec: {
    operation: string;
    summary: string;
    list: ListDefinition;
    item: Item;
    read: (db: Reader, account: AccountId, payout: PayoutId, list: ListQuery) => Promise<Page<Static<Item>>>;
  },
): Route {
  return readRoute({
    operation: spec.operation,
    path: `${one}/${part}`,
    scope: 'affiliates',
    needs: 'read',
    summary: spec.summary,
    list: spec.list,
    returns: { 200: listOf(spec.item) },
    errors: missing,
    handle: async ({ snapshot, account, params, list }) =>
      page(
        await snapshot(async (db) => {
          const { id } = await payoutHead(db, account, params.payout_id);
          return spec.read(db, account, id, list);
        }),
      ),
  });
}

export const affiliates = listWithin('affiliates', {
  operation: 'listPayoutAffiliates',
  summary: 'List the lines of a payout',
  list: lineList,
  item: line,
  read: listLines,
});

export const commissions = listWithin('commissions', {
  operation: 'listPayoutCommissions',
  summary: 'List the commissions of a payout',
  list: commissionList,
  item: commission,
  read: listPayoutCommissions,
});

export const exclusions = listWithin('excluded', {
  operation: 'listPayoutExclusions',
  summary: 'List the affiliates left out of a payout',
  list: exclusionList,
  item: exclusion,
  read: listExclusions,
});
