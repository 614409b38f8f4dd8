import sql from 'sql-template-tag';
import { oneRow, rows, type Tx } from '../db/database.ts';
import { LOCKS, takeLock } from '../db/locks.ts';
import type { AccountId, EndpointId } from '../kernel/ids.ts';
import { hashSecret } from '../kernel/secrets.ts';
import type { Language } from './affiliate-kinds.ts';
import type { CONTACT_ALERTS } from './kinds.ts';
import { isMailSent } from './notices.ts';

/** The e-mails to the contacts of webhook endpoints, as the account chose them. */
export interface ContactNotices {
  /** Where they find their portal; null = nowhere. */
  readonly portal_url: string | null;
  readonly language: Language;
  /** Where answers go; null = to the sender. */
  readonly reply_to: string | null;
}

/** The e-mail with the link that confirms the address of a contact. */
export const CONFIRMATION = 'contact_confirmation';
/** Every kind of notice to a contact. */
export type ContactNoticeKind = (typeof CONTACT_ALERTS)[number] | typeof CONFIRMATION;

/** The limits of confirmations: to an address and of an endpoint within a day, from an account within an hour. */
export const MOST_CONFIRMATIONS = { toAddress: 3, ofEndpoint: 5, fromAccount: 50 };

/** What a notice and a link have instead of an address (SHA-256, hexadecimal). */
export const addressHash = (email: string): string => hashSecret(email).toString('hex');

interface Asked {
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly email: string;
}

/**
 * Whether a contact may be sent a link now: `off` if the account sends contacts nothing, `no_mail` if no process sends e-mail,
 * `limited` at a limit, which exists because the e-mail goes to an arbitrary address from the operator's domain. Nobody else is
 * counted until the transaction ends.
 */
export async function mayConfirm(
  tx: Tx,
  { account, endpoint, email }: Asked,
): Promise<'yes' | 'off' | 'no_mail' | 'limited'> {
  const { is_on, is_sent } = await oneRow<{ is_on: boolean; is_sent: boolean }>(
    tx,
    sql`select contact_notices is not null as is_on, ${isMailSent} as is_sent from accounts where id = ${account}`,
  );
  if (!is_on) return 'off';
  if (!is_sent) return 'no_mail';
  const address = addressHash(email);
  // always in this order, so that two of them cannot deadlock
  await takeLock(tx, LOCKS.letters(account));
  await takeLock(tx, LOCKS.letters(address));
  const since = (span: string) =>
    sql`n.kind = ${CONFIRMATION} and n.id >= id_floor(now() - ${span}::interval)`;
  const sent = await oneRow<{ [Limit in keyof typeof MOST_CONFIRMATIONS]: number }>(
    tx,
    sql`select
          (select count(*)::int from notices n where n.data ->> 'to' = ${address} and ${since('1 day')}) as "toAddress",
          (select count(*)::int from notices n
           where n.account_id = ${account} and n.endpoint_id = ${endpoint} and ${since('1 day')}) as "ofEndpoint",
          (select count(*)::int from notices n where n.account_id = ${account} and ${since('1 hour')}) as "fromAccount"`,
  );
  const { toAddress, ofEndpoint, fromAccount } = MOST_CONFIRMATIONS;
  const isLimited =
    sent.toAddress >= toAddress || sent.ofEndpoint >= ofEndpoint || sent.fromAccount >= fromAccount;
  return isLimited ? 'limited' : 'yes';
}

/** Records the e-mail with a link (sealed, see `placeOfLink`), whose token has this hash. */
export async function noteConfirmation(
  tx: Tx,
  { account, endpoint, email }: Asked,
  { hash, link }: { hash: Buffer; link: Buffer },
): Promise<void> {
  const data = JSON.stringify({ to: addressHash(email), token: hash.toString('hex') });
  await rows(
    tx,
    sql`insert into notices (account_id, kind, data, link, is_alone, endpoint_id, due_at)
        values (${account}, ${CONFIRMATION}, ${data}, ${link}, true, ${endpoint}, now_ms())`,
  );
}

/**
 * Condition: a waiting notice `n` to the contact of the endpoint `e` of the account `o` is still wanted: its link works, or the
 * address is confirmed and nothing newer is known about the endpoint.
 */
export const isWantedByContact = sql`o.contact_notices is not null and e.deleted_at is null and (
  (n.kind = ${CONFIRMATION} and (n.data ->> 'token' = encode(e.contact_hash, 'hex') and e.contact_expires_at > now()) is true)
  or (n.kind <> ${CONFIRMATION} and e.contact_confirmed_at is not null and not exists (
    select from notices m
    where m.account_id = n.account_id and m.endpoint_id = n.endpoint_id and m.id > n.id and m.kind <> ${CONFIRMATION})))`;

/** Gives up waiting links that have ended, which still count, and deletes other waiting notices that nobody wants any more. */
export async function dropUnwantedByContacts(tx: Tx): Promise<void> {
  const unwanted = sql`n.account_id = e.account_id and n.endpoint_id = e.id and o.id = e.account_id
    and n.sent_at is null and n.failed_at is null and (n.lease is null or n.leased_until < now()) and not (${isWantedByContact})`;
  await rows(
    tx,
    sql`update notices n set failed_at = now_ms(), link = null, error = 'its link has ended'
        from webhook_endpoints e, accounts o where n.kind = ${CONFIRMATION} and ${unwanted}`,
  );
  await rows(
    tx,
    sql`delete from notices n using webhook_endpoints e, accounts o where n.kind <> ${CONFIRMATION} and ${unwanted}`,
  );
}
