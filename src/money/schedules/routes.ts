import { created, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { newSchedule, schedule, scheduleChange } from './record.ts';
import { changeSchedule, createSchedule, getSchedule, removeSchedule } from './service.ts';
import { listSchedules, scheduleList } from './store.ts';

const path = '/v2/affiliates/payout-schedules';
const one = '/v2/affiliates/payout-schedules/{schedule_id}';
const filterErrors = [
  'unknown_filter',
  'unknown_operator',
  'invalid_filter',
  'too_many_filters',
  'unknown_affiliate',
  'unknown_program',
] as const;

export const list = readRoute({
  operation: 'listPayoutSchedules',
  path,
  scope: 'affiliates',
  needs: 'read',
  summary: 'List schedules of payouts',
  list: scheduleList,
  returns: { 200: listOf(schedule) },
  handle: async ({ db, account, list }) => page(await listSchedules(db, account, list)),
});

export const create = writeRoute({
  operation: 'createPayoutSchedule',
  method: 'POST',
  path,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Create a schedule of payouts',
  description:
    'On its day, a schedule creates a payout as `POST /v2/affiliates/payouts` would, and a person completes it. It is first due ' +
    'after today. If no server was running on a due day, it runs once when a server starts. If there is nothing to pay, or another payout is ' +
    'unpaid, it creates none until its next due day, and `last_run` says why.',
  body: newSchedule,
  returns: { 201: schedule },
  creates: '/v2/affiliates/payout-schedules/{schedule_id}',
  errors: [...filterErrors],
  handle: async ({ tx, principal, body }) => created(await createSchedule(tx, principal, body)),
});

export const get = readRoute({
  operation: 'getPayoutSchedule',
  path: one,
  scope: 'affiliates',
  needs: 'read',
  summary: 'Get a schedule of payouts',
  returns: { 200: schedule },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getSchedule(db, account, params.schedule_id)),
});

export const change = writeRoute({
  operation: 'changePayoutSchedule',
  method: 'PATCH',
  path: one,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Change a schedule of payouts',
  description:
    'The author of a change counts as the creator of the next payouts, and so cannot approve them. The next due day is counted from today.',
  body: scheduleChange,
  returns: { 200: schedule },
  errors: ['resource_missing', ...filterErrors],
  handle: async ({ tx, principal, params, body }) =>
    ok(await changeSchedule(tx, principal, params.schedule_id, body)),
});

export const remove = writeRoute({
  operation: 'deletePayoutSchedule',
  method: 'DELETE',
  path: one,
  scope: 'affiliates',
  needs: 'write',
  summary: 'Delete a schedule of payouts',
  description: 'Its payouts stay.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await removeSchedule(tx, account, params.schedule_id);
    return noContent();
  },
});
