import { requireCapability } from '../../contract/access.ts';
import type { Principal } from '../../contract/route.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type AlertChannelId, type UserId, uuidOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { ALERT_KINDS, notifiedRoles, textsOf } from '../../notices/kinds.ts';
import { MOST_LETTERS, notifyOne, sendsMail } from '../../notices/notices.ts';
import type { AlertChoice, AlertSettings, AlertTest } from './record.ts';
import { isTestWaiting, readChoice, timeOf, writeChoice } from './store.ts';

/** A request about a user's alerts: the caller, and the named user; null = the caller. */
interface SettingsRequest {
  readonly principal: Principal;
  readonly userId: string | undefined;
}

/**
 * The user that a request concerns. Throws `resource_missing` if a key names none, and `role_too_low` or
 * `full_access_required` if a caller who may not manage users names another one.
 */
function userOf({ principal, userId }: SettingsRequest): UserId {
  const { user } = principal;
  if (userId === undefined) {
    if (user !== undefined) return user;
    throw fail('resource_missing', 'user_id must name the user: a key is not a person');
  }
  const named = uuidOf('usr', userId);
  if (named !== user) requireCapability(principal, 'people');
  if (named === null) throw missing();
  return named;
}

const missing = () => fail('resource_missing', 'no such user');

/** The e-mail alerts of a user. Throws `resource_missing`, `role_too_low`, `full_access_required`. */
export async function getAlertSettings(db: Reader, request: SettingsRequest): Promise<Json<AlertSettings>> {
  const found = await readChoice(db, request.principal.account, userOf(request));
  if (found === null) throw missing();
  const { kinds, role, ...rest } = found;
  return toJson({
    object: 'alert_settings',
    user_id: rest.user_id,
    email: rest.email,
    is_email_sent: await sendsMail(db),
    is_default: kinds === null,
    alerts: ALERT_KINDS.map((kind) => {
      const { label, meaning } = textsOf(kind);
      const by_email = kinds === null ? notifiedRoles(kind).includes(role) : kinds.includes(kind);
      return { kind, label, meaning, by_email };
    }),
    last_sent_at: rest.last_sent_at,
    last_error: rest.last_error,
  });
}

/** Stores the e-mail alerts of a user. Throws as `getAlertSettings`. */
export async function setAlertSettings(
  tx: Tx,
  request: SettingsRequest,
  { kinds }: AlertChoice,
): Promise<Json<AlertSettings>> {
  await writeChoice(tx, request.principal.account, userOf(request), kinds);
  return getAlertSettings(tx, request);
}

/** Sends a test e-mail to a user. Throws as `getAlertSettings`, and `email_not_sent`, `rate_limited`. */
export async function testAlertSettings(tx: Tx, request: SettingsRequest): Promise<Json<AlertTest>> {
  const { account } = request.principal;
  const user = userOf(request);
  if ((await readChoice(tx, account, user)) === null) throw missing();
  return sendTest(tx, account, { user });
}

/** Records a test unless one is waiting, so that nobody floods a recipient. Throws `email_not_sent`, `rate_limited`. */
export async function sendTest(
  tx: Tx,
  account: AccountId,
  to: { user: UserId } | { channel: AlertChannelId },
): Promise<Json<AlertTest>> {
  const recipient = 'user' in to ? to.user : to.channel;
  const waits = await isTestWaiting(tx, account, recipient);
  const noted = waits ? 'noted' : await notifyOne(tx, { account, kind: 'test', to });
  if (noted === 'no_mail') {
    throw fail('email_not_sent', 'the server sends no e-mail: its operator must set SMTP_URL and SMTP_FROM');
  }
  if (noted === 'limited') {
    const { toPerson, fromAccount } = MOST_LETTERS;
    throw fail(
      'rate_limited',
      `at most ${toPerson} tests, invitations and password links are sent to one person within an hour, and ${fromAccount} from one account`,
      { 'retry-after': '3600' },
    );
  }
  return toJson({ object: 'alert_test', requested_at: await timeOf(tx) });
}
