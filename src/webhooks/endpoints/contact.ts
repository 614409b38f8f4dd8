import sql from 'sql-template-tag';
import type { Env } from '../../contract/env.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { EMAIL_RULE, newEmail } from '../../kernel/email.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId, EndpointId } from '../../kernel/ids.ts';
import { hashSecret, isSecret, newSecret } from '../../kernel/secrets.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import { addressHash, mayConfirm, noteConfirmation } from '../../notices/contacts.ts';
import { placeOfLink } from '../../notices/notices.ts';

/** The page of the link that confirms an address. */
export const CONFIRM_PATH = '/notices/confirm';
const LINK_DAYS = 7;

type Asking = AccountVault & Pick<Env, 'authorizeUrl'>;

/**
 * Sets who is e-mailed about a locked endpoint. Another address gets a link, if it may be sent one, and nothing else until it is
 * confirmed; the link of the one before ends. An address that was confirmed for another endpoint of the same owner is confirmed.
 * Throws `invalid_body`.
 */
export async function setContact(
  tx: Tx,
  caller: Asking,
  endpoint: EndpointId,
  { given, before }: { given: string | null | undefined; before: string | null },
): Promise<void> {
  if (given === undefined) return;
  const email = given === null ? null : newEmail(given);
  if (given !== null && email === null) throw fail('invalid_body', `contact_email must be ${EMAIL_RULE}`);
  if (email === before) return;
  const { account } = caller;
  const { is_confirmed } = await oneRow<{ is_confirmed: boolean }>(
    tx,
    sql`update webhook_endpoints e
        set contact_email = ${email}, contact_hash = null, contact_expires_at = null, updated_at = now_ms(),
            contact_confirmed_at = (
              select max(s.contact_confirmed_at) from webhook_endpoints s
              where s.account_id = e.account_id and s.id <> e.id and s.owner = e.owner and s.contact_email = ${email}
                and s.deleted_at is null)
        where e.account_id = ${account} and e.id = ${endpoint}
        returning contact_confirmed_at is not null as is_confirmed`,
  );
  if (email !== null && !is_confirmed) await sendLink(tx, caller, { endpoint, email });
}

/** Sends a link to the address of a locked endpoint, if it may be sent one. Earlier links end. */
export async function sendLink(
  tx: Tx,
  { account, vault, authorizeUrl }: Asking,
  { endpoint, email }: { endpoint: EndpointId; email: string },
): Promise<Exclude<Awaited<ReturnType<typeof mayConfirm>>, 'yes'> | 'sent'> {
  const asked = { account, endpoint, email };
  const may = await mayConfirm(tx, asked);
  if (may !== 'yes') return may;
  const token = newSecret('phe_', tx.cell);
  const hash = hashSecret(token);
  await rows(
    tx,
    sql`update webhook_endpoints
        set contact_hash = ${hash}, contact_expires_at = now_ms() + ${LINK_DAYS}::int * interval '1 day', updated_at = now_ms()
        where account_id = ${account} and id = ${endpoint}`,
  );
  const url = `${authorizeUrl()}${CONFIRM_PATH}?token=${token}`;
  const link = vault.seal(url, placeOfLink(account, endpoint), await sealingKey(tx));
  await noteConfirmation(tx, asked, { hash, link });
  return 'sent';
}

const linked = (hash: Buffer) =>
  sql`e.contact_hash = ${hash} and e.contact_expires_at > now() and e.deleted_at is null`;

/** The name of the account whose e-mails the token of a link confirms; null if the link was used or has ended. */
export async function accountOfLink(db: Reader, token: string): Promise<string | null> {
  if (!isSecret('phe_', token)) return null;
  const found = await maybeRow<{ name: string }>(
    db,
    sql`select o.name from webhook_endpoints e join accounts o on o.id = e.account_id where ${linked(hashSecret(token))}`,
  );
  return found?.name ?? null;
}

/**
 * Confirms the address that was sent this token, once, also at the other endpoints of the same owner that wait for it. Returns whether
 * it did.
 */
export async function confirmContact(tx: Tx, token: string): Promise<boolean> {
  if (!isSecret('phe_', token)) return false;
  const done = await rows(
    tx,
    sql`with link as materialized (
          select e.account_id, e.id, e.owner, e.contact_email from webhook_endpoints e where ${linked(hashSecret(token))}),
        waiting as materialized (
          select * from (
            select e.account_id, e.id from webhook_endpoints e join link l on l.account_id = e.account_id
            where (e.id = l.id and e.contact_hash = ${hashSecret(token)} or e.owner = l.owner)
              and e.contact_email = l.contact_email and e.contact_confirmed_at is null and e.deleted_at is null
            order by e.id for no key update of e) w)
        update webhook_endpoints e
        set contact_confirmed_at = now_ms(), contact_hash = null, contact_expires_at = null, updated_at = now_ms()
        from waiting w where e.account_id = w.account_id and e.id = w.id returning 1`,
  );
  return done.length > 0;
}

/** Removes an address (its hash) from an endpoint: who has it wants no more e-mails. Returns whether it was there. */
export async function endContact(
  tx: Tx,
  account: AccountId,
  { endpoint, to }: { endpoint: EndpointId; to: string },
): Promise<boolean> {
  const found = await maybeRow<{ email: string }>(
    tx,
    sql`select contact_email as email from webhook_endpoints
        where account_id = ${account} and id = ${endpoint} and contact_email is not null for no key update`,
  );
  if (found === null || addressHash(found.email) !== to) return false;
  await rows(
    tx,
    sql`update webhook_endpoints
        set contact_email = null, contact_hash = null, contact_expires_at = null, contact_confirmed_at = null, updated_at = now_ms()
        where account_id = ${account} and id = ${endpoint}`,
  );
  return true;
}
