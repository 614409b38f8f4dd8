import type { Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { Json } from '../../kernel/json.ts';
import { MOST_CONFIRMATIONS } from '../../notices/contacts.ts';
import { sendLink } from './contact.ts';
import type { WebhookEndpoint } from './record.ts';
import { type Caller, endpointUuid, getEndpoint, missingEndpoint } from './service.ts';
import { lockEndpoint } from './store.ts';

/**
 * Sends the link that confirms the address of an endpoint again. Throws `resource_missing`, `nothing_to_confirm`, `email_not_sent`,
 * `rate_limited`.
 */
export async function sendContactLink(tx: Tx, caller: Caller, id: string): Promise<Json<WebhookEndpoint>> {
  const endpoint = endpointUuid(id);
  const row = await lockEndpoint(tx, caller.account, endpoint);
  if (row === null) throw missingEndpoint();
  const { contact_email: email, contact_confirmed_at: confirmedAt } = row;
  if (email === null || confirmedAt !== null)
    throw fail(
      'nothing_to_confirm',
      email === null ? 'contact_email: the webhook endpoint has none' : 'contact_email is confirmed',
    );
  const result = await sendLink(tx, caller, { endpoint, email });
  if (result === 'off')
    throw fail(
      'email_not_sent',
      'the account sends no e-mails to contacts: set contact_notices of the account',
    );
  if (result === 'no_mail')
    throw fail('email_not_sent', 'the server sends no e-mail: its operator must set SMTP_URL and SMTP_FROM');
  if (result === 'limited') {
    const { toAddress, ofEndpoint, fromAccount } = MOST_CONFIRMATIONS;
    throw fail(
      'rate_limited',
      `at most ${toAddress} links are sent to one address within a day, ${ofEndpoint} for one webhook endpoint, and ${fromAccount} from one account within an hour`,
      { 'retry-after': '3600' },
    );
  }
  return getEndpoint(tx, caller.principal, id);
}
