import { created, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { alertTest } from '../settings/record.ts';
import { alertChannel, alertChannelChange, alertChannelInput, newAlertChannel } from './record.ts';
import { changeChannel, createChannel, deleteChannel, getChannel, testChannel } from './service.ts';
import { channelList, listChannels } from './store.ts';

export const list = readRoute({
  operation: 'listAlertChannels',
  path: '/v2/alert-channels',
  needs: 'own',
  summary: 'List alert channels',
  list: channelList,
  returns: { 200: listOf(alertChannel) },
  handle: async ({ db, account, list }) => page(await listChannels(db, account, list)),
});

export const create = writeRoute({
  operation: 'createAlertChannel',
  method: 'POST',
  path: '/v2/alert-channels',
  needs: 'own',
  summary: 'Create an alert channel',
  description:
    'A webhook or Slack channel that receives the alerts that users get by e-mail. The URL may lead to the same hosts as ' +
    'those of webhook endpoints.',
  body: alertChannelInput,
  returns: { 201: newAlertChannel },
  creates: '/v2/alert-channels/{channel_id}',
  errors: ['invalid_url', 'too_many_channels'],
  secret: 'secret',
  handle: async ({ tx, account, env: { vault, addresses }, body }) =>
    created(await createChannel(tx, { account, vault, addresses }, body)),
});

export const get = readRoute({
  operation: 'getAlertChannel',
  path: '/v2/alert-channels/{channel_id}',
  needs: 'own',
  summary: 'Get an alert channel',
  returns: { 200: alertChannel },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getChannel(db, account, params.channel_id)),
});

export const change = writeRoute({
  operation: 'changeAlertChannel',
  method: 'PATCH',
  path: '/v2/alert-channels/{channel_id}',
  needs: 'own',
  summary: 'Change an alert channel',
  description: 'The secret of a webhook stays the same.',
  body: alertChannelChange,
  returns: { 200: alertChannel },
  errors: ['resource_missing', 'invalid_url'],
  handle: async ({ tx, account, env: { vault, addresses }, params, body }) =>
    ok(await changeChannel(tx, { account, vault, addresses }, params.channel_id, body)),
});

export const remove = writeRoute({
  operation: 'deleteAlertChannel',
  method: 'DELETE',
  path: '/v2/alert-channels/{channel_id}',
  needs: 'own',
  summary: 'Delete an alert channel',
  description: 'Alerts that still wait to be sent there are dropped.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await deleteChannel(tx, account, params.channel_id);
    return noContent();
  },
});

export const test = writeRoute({
  operation: 'testAlertChannel',
  method: 'POST',
  path: '/v2/alert-channels/{channel_id}/test',
  needs: 'own',
  summary: 'Send a test to an alert channel',
  description: 'It is sent within seconds; `last_sent_at` and `last_error` of the channel show the result.',
  returns: { 200: alertTest },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => ok(await testChannel(tx, account, params.channel_id)),
});
