import { CALLBACK, type Person, tokensFor } from '../oauth/support.ts';
import { browserAt, PASSWORD, tokenIn } from '../people/support.ts';
import { apiOf } from '../support/api.ts';
import type { Recorder } from './recorder.ts';
import type { Scene } from './story.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
const PHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1';

/** People are invited, join and leave; an owner reads the audit log. Returns a signed-in owner. */
export async function people({ show, refuse, chapter }: Recorder, { world }: Scene): Promise<Person> {
  chapter('2026-09-23T09:00:00.000Z');
  const mary = await show('createUser', {
    headers: { 'Idempotency-Key': 'invite-mary' },
    body: { email: 'mary@example.com', name: 'Mary Somerville', role: 'owner' },
  });
  const browser = browserAt(world.url);
  await browser.submit(
    '/password',
    { token: tokenIn(mary.invitation_url), password: PASSWORD, again: PASSWORD },
    { 'user-agent': BROWSER },
  );
  const other = await world.api.post('/v2/users', {
    email: 'luigi@example.com',
    name: 'Luigi Menabrea',
    role: 'viewer',
  });
  await show('getUser', { path: { user_id: mary.id } });
  await show('changeUser', { path: { user_id: other.body.id }, body: { role: 'member' } });
  await refuse('changeUser', 'last_owner', { path: { user_id: mary.id }, body: { role: 'viewer' } });
  await show('resetUserPassword', { path: { user_id: mary.id } });
  await world.query(`insert into server_settings (key, value) values ('chore e-mail', now()::text)
    on conflict (key) do update set value = excluded.value`);
  await show('setAlertSettings', {
    query: { user_id: mary.id },
    body: { kinds: ['payout_waiting', 'backup_failed'] },
  });
  await show('testAlertSettings', { query: { user_id: mary.id } });
  await show('getAlertSettings', { query: { user_id: mary.id } });
  await world.query(`delete from server_settings where key = 'chore e-mail'`);
  await world.query('delete from notices');
  const channel = await show('createAlertChannel', {
    headers: { 'Idempotency-Key': 'ops-channel' },
    body: {
      name: 'ops',
      format: 'webhook',
      url: 'https://ops.example.com/payhook',
      kinds: ['endpoint_failing', 'endpoint_disabled'],
    },
  });
  const one = { channel_id: channel.id };
  await show('listAlertChannels', { query: { sort: 'name' } });
  await show('changeAlertChannel', { path: one, body: { kinds: ['endpoint_disabled', 'backup_failed'] } });
  await show('testAlertChannel', { path: one });
  await show('getAlertChannel', { path: one });
  await show('deleteAlertChannel', { path: one });
  await show('getMe');
  await show('getActors', { query: { ids: mary.id } });
  await show('getSystem');
  await show('listUsers', { query: { status: 'active' } });
  const passing = await world.api.post('/v2/affiliates', { email: 'ida@example.com', name_first: 'Ida' });
  await show('eraseAffiliate', { path: { affiliate_id: passing.body.id } });
  await show('deleteUser', { path: { user_id: other.body.id } });
  await show('eraseUser', { path: { user_id: other.body.id } });
  const { data: sessions } = await show('listSessions', { query: { user_id: mary.id } });
  await show('listAuditLog', { query: { action: 'completePayout', per_page: 1 } });

  const second = browserAt(world.url);
  const signIn = { email: 'mary@example.com', password: PASSWORD };
  await second.submit('/sign-in', signIn, { 'user-agent': BROWSER });
  await show('deleteSession', { path: { session_id: sessions[0].id } });
  await browserAt(world.url).submit('/sign-in', signIn, { 'user-agent': PHONE });
  const as = { cookie: second.cookie() ?? '', csrf: await second.token() };
  const { data: own } = await show('listOwnSessions', { as });
  const { id } = own.find((each: { is_current: boolean }) => !each.is_current);
  await show('deleteOwnSession', { path: { session_id: id }, as });
  await show('deleteOtherSessions', { as });
  return { ...as, id: mary.id };
}

/**
 * A payout that an ownerless key created, so that two people must approve it: an owner rejects it, then approves it.
 */
export async function approving({ show, refuse, chapter }: Recorder, { world }: Scene, owner: Person) {
  chapter('2026-09-23T14:00:00.000Z');
  const { api } = world;
  await api.patch('/v2/account', { approval: 'second_person' });
  await refuse('createUser', 'owner_required', {
    body: { email: 'eve@example.com', name: 'Eve', role: 'owner' },
  });
  const { id, revision } = (await api.post('/v2/affiliates/payouts')).body;
  const path = { payout_id: id };
  await refuse('approvePayout', 'person_required', { path, body: { revision } });
  await show('rejectPayout', {
    path,
    body: { revision, note: 'The refund of order 1042 is missing.' },
    as: owner,
  });
  await show('reviewPayoutSignals', {
    path,
    body: { revision, note: 'Called the affiliates back at their known numbers.' },
    as: owner,
  });
  await show('approvePayout', { path, body: { revision }, as: owner });
  await show('getPayoutApproval', { path });
  await api.delete(`/v2/affiliates/payouts/${id}`);
  await world.query(`update accounts set approval = 'none'`);
}

/** A third-party application is registered, granted access by an owner, used, and revoked again. */
export async function applications(
  { show, chapter }: Recorder,
  { world }: Scene,
  { owner, used }: { owner: Person; used: () => Promise<unknown> },
): Promise<void> {
  chapter('2026-09-24T09:00:00.000Z');
  const application = await show('createOAuthApplication', {
    headers: { 'Idempotency-Key': 'till-and-co' },
    body: {
      name: 'Till & Co',
      kind: 'confidential',
      redirect_uris: [CALLBACK],
      scopes: ['affiliates', 'webhooks'],
    },
  });
  const { access_token } = await tokensFor(world, owner, application);
  await apiOf(world.url, access_token).get('/v2/affiliates/payouts');
  await used();
  const { data: grants } = await show('listOAuthGrants', {
    query: { status: 'active', application_id: application.id },
  });
  await show('getOAuthGrant', { path: { grant_id: grants[0].id } });
  await show('deleteOAuthGrant', { path: { grant_id: grants[0].id } });
  const one = { application_id: application.id };
  await show('changeOAuthApplication', { path: one, body: { scopes: ['affiliates'] } });
  await show('getOAuthApplication', { path: one });
  await show('rotateOAuthApplicationSecret', { path: one });
  await show('listOAuthApplications', { query: { kind: 'confidential' } });
  await show('deleteOAuthApplication', { path: one });
}
